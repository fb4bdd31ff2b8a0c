------------------------------- MODULE Sets -------------------------------
(* A set of masters that changes while clients acquire and extend leases of  *)
(* one name. Nodes store a record, operators change the set and may stop at  *)
(* any step, nodes restart empty, clients have old or wrong lists.           *)
(*                                                                           *)
(* There is no clock. A wait is the condition that it waits for. An action   *)
(* happens at any later moment or never, so pauses, partitions and dead      *)
(* operators need no actions of their own.                                   *)
(*                                                                           *)
(* What is left out, because it only takes steps away from a violation:      *)
(* - Each lease is one attempt. It wins with its last vote and does not end: *)
(*   after the end of one of two leases there is no second owner any more.   *)
(* - A key without a lease expires at once. A key that is lost by a restart  *)
(*   blocks the node as the quarantine does, while a lease counts on it.     *)
(* - A client may begin a round with any record that a node ever stored.     *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Nodes,       \* all masters that there may be
  First,       \* the set of epoch 1
  Lists,       \* the lists of masters with which clients may be configured
  Choices,     \* the sets that operators may propose
  Alike,       \* nodes that may be exchanged for each other in all of the above
  Leases,      \* each is one attempt of some client
  Operators,   \* ballots of operators, numbers from 1; empty unless Successors = "ballots"
  MaxEpoch,
  Extensions,  \* how often each lease may be extended
  Start,       \* "old": the first set is complete; "new": each node is empty
  Restarts,    \* how many restarts there may be
  Forget,      \* when a node may restart: "any", "change", "still", "told", "removed"
  \* The rules. A configuration that must fail changes one of them.
  Checked,     \* a vote counts only if the node's record admits its epoch and set
  Before,      \* ... and the set of an earlier epoch is compared too
  Step,        \* by how many members two adjacent sets may differ
  Successors,  \* "one": by assumption; "ballots": by promises; "any"
  Renewed,     \* an empty node refuses the ballots that were asked before it restarted
  Grown,       \* a node in quarantine gives no promise
  Sealed,      \* the next set is opened only after the floors are raised
  Waits,       \* "none"; "majority": one guard time after a majority of both sets is sealed;
               \* "members": ... after each member of the next set was sealed once;
               \* "all": each member has been sealed for a guard time by its own clock
  Complete,    \* who must have stored the set before the next is opened: "all", "majority"
  Told,        \* ... and a removed member too
  Word,        \* who may write the record of an empty node: "own", "one", "majority"
  Boot,        \* how many members must be empty for a client's own record: "all", "majority", "none"
  Confirmed,   \* ... and the votes count only after each member has stored it
  Fresh,       \* ... and this record is not older than the newest complete epoch
  Tell         \* clients tell a node of a higher epoch: "no", "any", "promised" (within its promise)

VARIABLES
  \* of each node:
  record,   \* its marker: epoch, set, set of the epoch before, floor, ballot
  promise,  \* the highest ballot of an operator that asked it
  offers,   \* while it is empty: the records that clients are about to write
  young,    \* its quarantine: the rounds and leases that may have counted on it when it restarted
  restarts,
  \* of each lease:
  stage,    \* "idle", "asking", "held", "extending"
  round,    \* the epoch and set with which its newest round began, and the sealed epoch then
  granted,  \* the nodes whose votes this round has
  holders,  \* the nodes by whose votes it is valid
  epoch,    \* the epoch of the round that granted or extended it
  early,    \* the sealed epoch when that round began
  extends,
  \* of the operators:
  done,     \* the newest epoch that an operator has found complete
  sealed,   \* the newest epoch that was sealed by a majority of both sets
  proposals,\* what operators write
  opened,   \* what a node has stored of it
  asking    \* of each operator: whom it asked for a promise, and what it adopts

nodeVars == <<record, promise, offers, young, restarts>>
leaseVars == <<stage, round, granted, holders, epoch, early, extends>>
opVars == <<done, sealed, proposals, opened, asking>>
vars == <<nodeVars, leaseVars, opVars>>

Empty == [epoch |-> 0, set |-> {}, before |-> {}, floor |-> 0, ballot |-> 0]
NoRound == [epoch |-> 0, set |-> {}, sealed |-> 0]
NotAsking == [epoch |-> 0, set |-> {}, heard |-> {}, adopts |-> {}, ballot |-> 0]
Listed(list) == [epoch |-> 1, set |-> list, before |-> {}, ballot |-> 0]
WithFloor(r, floor) ==
  [epoch |-> r.epoch, set |-> r.set, before |-> r.before, floor |-> floor, ballot |-> r.ballot]

IsMajority(some, set) == 2 * Cardinality(some \cap set) > Cardinality(set)
Max(a, b) == IF a > b THEN a ELSE b
Distance(a, b) == Cardinality((a \ b) \cup (b \ a))
IsValid(p) == stage[p] \in {"held", "extending"}

(* What a client may know: its list, or a record that it once read.          *)
Known == {Listed(list) : list \in Lists} \cup opened

Init ==
  /\ record = [n \in Nodes |->
       IF Start = "old" /\ n \in First THEN WithFloor(Listed(First), 1) ELSE Empty]
  /\ promise = [n \in Nodes |-> 0]
  /\ offers = [n \in Nodes |-> {}]
  /\ young = [n \in Nodes |-> {}]
  /\ restarts = 0
  /\ stage = [p \in Leases |-> "idle"]
  /\ round = [p \in Leases |-> NoRound]
  /\ granted = [p \in Leases |-> {}]
  /\ holders = [p \in Leases |-> {}]
  /\ epoch = [p \in Leases |-> 0]
  /\ early = [p \in Leases |-> 0]
  /\ extends = [p \in Leases |-> 0]
  /\ done = Listed(First)
  /\ sealed = 0
  /\ proposals = {}
  /\ opened = {}
  /\ asking = [o \in Operators |-> NotAsking]

-----------------------------------------------------------------------------
(* Clients.                                                                  *)

(* A vote counts for a round of epoch e only while floor <= e <= epoch.      *)
Counts(n, r) ==
  /\ n \in r.set
  /\ Checked =>
       /\ record[n].floor <= r.epoch
       /\ r.epoch <= record[n].epoch
       /\ record[n].epoch = r.epoch => record[n].set = r.set
       /\ Before /\ record[n].epoch = r.epoch + 1 /\ record[n].before # {}
            => record[n].before = r.set

(* The key of another lease, or the quarantine while one counts on this node.*)
IsFree(n, p) == \A q \in Leases \ {p} : n \notin holders[q] \cup granted[q]

Vote(p, n, r) ==
  /\ Counts(n, r)
  /\ IsFree(n, p)
  /\ n \notin granted[p]
  /\ granted[p] # {} => p \notin young[n]
  /\ LET votes == granted[p] \cup {n}
         wins == IsMajority(votes, r.set)
     IN /\ stage' = [stage EXCEPT ![p] =
             IF wins THEN "held" ELSE IF @ \in {"idle", "asking"} THEN "asking" ELSE "extending"]
        /\ round' = [round EXCEPT ![p] = IF wins THEN NoRound ELSE r]
        /\ granted' = [granted EXCEPT ![p] = IF wins THEN {} ELSE votes]
        /\ holders' = [holders EXCEPT ![p] = IF wins THEN votes ELSE @]
        /\ epoch' = [epoch EXCEPT ![p] = IF wins THEN r.epoch ELSE @]
        /\ early' = [early EXCEPT ![p] = IF wins THEN r.sealed ELSE @]
        /\ young' = IF wins THEN [m \in Nodes |-> young[m] \ {p}] ELSE young

(* A round begins with the epoch and set that its client knows.              *)
Begin(p, n) ==
  /\ \/ stage[p] = "idle" /\ UNCHANGED extends
     \/ stage[p] = "held" /\ extends[p] < Extensions /\ extends' = [extends EXCEPT ![p] = @ + 1]
  /\ \E k \in Known : Vote(p, n, [epoch |-> k.epoch, set |-> k.set, sealed |-> sealed])
  /\ UNCHANGED <<record, promise, offers, restarts, opVars>>

Grant(p, n) ==
  /\ stage[p] \in {"asking", "extending"}
  /\ Vote(p, n, round[p])
  /\ UNCHANGED <<record, promise, offers, restarts, extends, opVars>>

(* A client tells a node of the higher epoch of another.                     *)
TellOf(m, n) ==
  /\ Tell # "no"
  /\ record[n] # Empty
  /\ record[n].epoch < record[m].epoch
  /\ Tell = "promised" => promise[n] <= record[m].ballot
  /\ record' = [record EXCEPT ![n] = WithFloor(record[m], Max(@.floor, record[m].floor))]
  /\ UNCHANGED <<promise, offers, young, restarts, leaseVars, opVars>>

-----------------------------------------------------------------------------
(* Nodes that forget.                                                        *)

(* m is a member by its own record, but the present set does not have it.    *)
IsUntold(m) ==
  /\ record[m] # Empty
  /\ record[m].epoch < done.epoch
  /\ m \in record[m].set
  /\ m \notin done.set

IsChanging == \E n \in Nodes : record[n].epoch > done.epoch

MayForget(n) ==
  CASE Forget = "any" -> TRUE
    [] Forget = "change" -> IsChanging
    [] Forget = "still" -> ~IsChanging
    [] Forget = "told" -> ~\E m \in Nodes : IsUntold(m)
    [] Forget = "removed" -> n \notin done.set

(* The highest ballot that was asked or is proposed.                         *)
Highest ==
  LET of == {promise[m] : m \in Nodes} \cup {r.ballot : r \in proposals}
  IN CHOOSE b \in of : \A c \in of : c <= b

(* The connections end, and with them what clients were about to write.      *)
Restart(n) ==
  /\ restarts < Restarts
  /\ record[n] # Empty
  /\ MayForget(n)
  /\ restarts' = restarts + 1
  /\ record' = [record EXCEPT ![n] = Empty]
  /\ promise' = [promise EXCEPT ![n] = IF Renewed THEN Highest ELSE 0]
  /\ young' = [young EXCEPT ![n] = {p \in Leases : granted[p] # {} \/ n \in holders[p]}]
  /\ UNCHANGED <<offers, leaseVars, opVars>>

Offer(nodes, r) ==
  /\ \E n \in nodes : r \notin offers[n]
  /\ offers' = [n \in Nodes |-> IF n \in nodes THEN offers[n] \cup {r} ELSE offers[n]]
  /\ UNCHANGED <<record, promise, young, restarts, leaseVars, opVars>>

Vouches(m, n) ==
  /\ record[m] # Empty
  /\ n \in record[m].set
  /\ m \in record[m].set
  /\ Word = "majority" =>
       IsMajority({l \in Nodes \ {n} : record[l].epoch >= record[m].epoch
                                       /\ record[l].floor >= record[m].floor}, record[m].set)

(* A client finds n empty, reads the record of m, and then writes to n.      *)
OfferWord(n) ==
  /\ record[n] = Empty
  /\ \/ /\ Word \in {"one", "majority"}
        /\ \E m \in Nodes \ {n} :
             Vouches(m, n) /\ Offer({n}, [record[m] EXCEPT !.ballot = 0])
     \/ /\ Word = "own"
        /\ \E k \in Known : n \in k.set /\ Offer({n}, WithFloor([k EXCEPT !.ballot = 0], k.epoch))

(* A client finds enough members of the set that it knows empty at one time. *)
OfferOwn(k) ==
  LET empty == {n \in k.set : record[n] = Empty}
  IN /\ Boot # "none"
     /\ IF Boot = "all" THEN empty = k.set ELSE IsMajority(empty, k.set)
     /\ Fresh => k.epoch >= done.epoch
     /\ Offer(empty, WithFloor([k EXCEPT !.ballot = 0], IF Confirmed THEN k.epoch + 1 ELSE k.epoch))

(* A floor above the epoch admits no vote: this record is not confirmed.     *)
Confirm(n) ==
  /\ record[n].floor > record[n].epoch
  /\ \A m \in record[n].set : record[m].epoch = record[n].epoch /\ record[m].set = record[n].set
  /\ record' = [record EXCEPT ![n].floor = @ - 1]
  /\ UNCHANGED <<promise, offers, young, restarts, leaseVars, opVars>>

(* The node is still empty when the record arrives.                          *)
Store(n) ==
  /\ record[n] = Empty
  /\ \E r \in offers[n] : record' = [record EXCEPT ![n] = r]
  /\ offers' = [offers EXCEPT ![n] = {}]
  /\ UNCHANGED <<promise, young, restarts, leaseVars, opVars>>

-----------------------------------------------------------------------------
(* Operators. What one has found or proposed, another may continue with.     *)

HasStored(n, r) ==
  record[n].epoch >= r.epoch /\ (Sealed => record[n].floor >= r.epoch)

(* A lease or a round that the wait is for, by the rule of the wait.         *)
Delays(p, r) ==
  CASE Waits = "none" -> FALSE
    [] Waits \in {"majority", "members"} ->
         \/ IsValid(p) /\ epoch[p] < r.epoch /\ early[p] < r.epoch
         \/ granted[p] # {} /\ round[p].epoch < r.epoch /\ round[p].sealed < r.epoch
    [] Waits = "all" ->
         \/ IsValid(p) /\ epoch[p] < r.epoch
         \/ granted[p] \cap r.set # {} /\ round[p].epoch < r.epoch

(* The members are read within one node timeout, so in one step.             *)
Finish(r) ==
  /\ r.epoch = done.epoch + 1
  /\ LET stored == {n \in r.set : HasStored(n, r) /\ (record[n].epoch = r.epoch => record[n].set = r.set)}
     IN IF Complete = "all" THEN stored = r.set ELSE IsMajority(stored, r.set)
  /\ Told => \A n \in r.before : HasStored(n, r)
  /\ ~\E p \in Leases : Delays(p, r)
  /\ done' = r
  /\ UNCHANGED <<nodeVars, leaseVars, sealed, proposals, opened, asking>>

Proposal(set, base, ballot) ==
  [epoch |-> base.epoch + 1, set |-> set, before |-> base.set, ballot |-> ballot]

Propose ==
  /\ Successors # "ballots"
  /\ done.epoch < MaxEpoch
  /\ Successors = "one" => ~\E r \in proposals : r.epoch = done.epoch + 1
  /\ \E set \in Choices :
       /\ Distance(set, done.set) \in 1..Step
       /\ Proposal(set, done, 0) \notin proposals
       /\ proposals' = proposals \cup {Proposal(set, done, 0)}
  /\ UNCHANGED <<nodeVars, leaseVars, done, sealed, opened, asking>>

(* An operator asks a majority of the complete set for a promise.            *)
Ask(o, n) ==
  /\ asking[o].epoch # -1
  /\ LET a == IF asking[o] = NotAsking
                THEN [NotAsking EXCEPT !.epoch = done.epoch, !.set = done.set] ELSE asking[o]
     IN /\ a.epoch < MaxEpoch
        /\ n \in a.set \ a.heard
        /\ record[n].epoch \in {a.epoch, a.epoch + 1}
        /\ promise[n] < o
        /\ Grown => young[n] = {}
        /\ promise' = [promise EXCEPT ![n] = o]
        /\ asking' = [asking EXCEPT ![o] =
             IF record[n].epoch = a.epoch + 1 /\ (a.adopts = {} \/ record[n].ballot > a.ballot)
               THEN [a EXCEPT !.heard = @ \cup {n}, !.adopts = record[n].set,
                              !.ballot = record[n].ballot]
               ELSE [a EXCEPT !.heard = @ \cup {n}]]
  /\ UNCHANGED <<record, offers, young, restarts, leaseVars, done, sealed, proposals, opened>>

Choose(o) ==
  /\ asking[o].epoch > 0
  /\ IsMajority(asking[o].heard, asking[o].set)
  /\ \E set \in Choices :
       /\ IF asking[o].adopts # {} THEN set = asking[o].adopts
          ELSE Distance(set, asking[o].set) \in 1..Step
       /\ proposals' = proposals \cup {Proposal(set, asking[o], o)}
  /\ asking' = [asking EXCEPT ![o] = [NotAsking EXCEPT !.epoch = -1]]
  /\ UNCHANGED <<nodeVars, leaseVars, done, sealed, opened>>

(* An empty node may be opened until the set is complete: an operator whose  *)
(* connection ended has read all nodes again.                                *)
Open(n, r) ==
  /\ n \in r.before \cup r.set
  /\ record[n] = Empty => done.epoch < r.epoch
  /\ \/ record[n].epoch < r.epoch
     \/ Successors = "ballots" /\ record[n].epoch = r.epoch
          /\ record[n].ballot < r.ballot /\ (record[n].floor < r.epoch \/ record[n].set = r.set)
  /\ promise[n] <= r.ballot
  /\ promise' = [promise EXCEPT ![n] = r.ballot]
  /\ record' = [record EXCEPT ![n] = WithFloor(r, Max(@.floor, r.epoch - 1))]
  /\ offers' = [offers EXCEPT ![n] = {}]
  /\ opened' = opened \cup {r}
  /\ UNCHANGED <<young, restarts, leaseVars, done, sealed, proposals, asking>>

HasOpened(r) == {n \in Nodes : record[n].epoch = r.epoch /\ record[n].set = r.set}

Seal(n, r) ==
  /\ n \in HasOpened(r)
  /\ record[n].floor < r.epoch
  /\ IsMajority(HasOpened(r), r.before) /\ IsMajority(HasOpened(r), r.set)
  /\ record' = [record EXCEPT ![n].floor = r.epoch]
  /\ LET all == {m \in HasOpened(r) : record'[m].floor = r.epoch}
         waits == \/ Waits = "majority" /\ IsMajority(all, r.before) /\ IsMajority(all, r.set)
                  \/ Waits = "members" /\ r.set \subseteq all
     IN sealed' = IF waits THEN Max(sealed, r.epoch) ELSE sealed
  /\ UNCHANGED <<promise, offers, young, restarts, leaseVars, done, proposals, opened, asking>>

Next ==
  \/ \E p \in Leases, n \in Nodes : Begin(p, n) \/ Grant(p, n)
  \/ \E n \in Nodes : Restart(n) \/ OfferWord(n) \/ Store(n) \/ Confirm(n)
  \/ \E m, n \in Nodes : TellOf(m, n)
  \/ \E k \in Known : OfferOwn(k)
  \/ Propose
  \/ \E o \in Operators : Choose(o) \/ \E n \in Nodes : Ask(o, n)
  \/ \E r \in proposals : Finish(r) \/ \E n \in Nodes : Open(n, r) \/ Seal(n, r)

Spec == Init /\ [][Next]_vars

Symmetric == Permutations(Alike) \cup Permutations(Leases)

-----------------------------------------------------------------------------
(* What must hold.                                                           *)

Exclusion == \A p, q \in Leases : p # q => ~(IsValid(p) /\ IsValid(q))

(* Two operators do not both find a majority for different sets of one epoch.*)
Agreement == \A m, n \in Nodes :
  record[m].epoch = record[n].epoch /\ record[m].floor = record[m].epoch
    /\ record[n].floor = record[n].epoch => record[m].set = record[n].set

(* What must not hold, so that the configurations reach what they are for.   *)

NeverThirdSet == ~(done.epoch = 3 /\ \E p \in Leases : IsValid(p) /\ epoch[p] = 3)
NeverExtendedAcross == ~\E p \in Leases : IsValid(p) /\ extends[p] > 0 /\ epoch[p] > 1
NeverAdopted == ~\E r, s \in proposals : r.epoch = s.epoch /\ r.set = s.set /\ r.ballot < s.ballot
=============================================================================
