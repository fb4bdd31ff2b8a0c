------------------------------- MODULE Sets -------------------------------
(* A set of masters that changes while clients acquire and extend leases of  *)
(* one name. Nodes store a record, operators change the set and may stop at  *)
(* any step, nodes restart empty, clients have old or wrong lists. Clients   *)
(* found a deployment, whose id each record holds; nodes of another          *)
(* deployment are in a list, or behind the name of a member.                 *)
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
  Leases       \* each is one attempt of some client

(* The scope. A configuration replaces what differs.                         *)
Choices == {}      \* the sets that operators may propose
Alike == {}        \* nodes that may be exchanged for each other in all of the constants
Operators == {}    \* ballots of operators, numbers from 1; empty unless Successors = "ballots"
MaxEpoch == 1
Extensions == 0    \* how often each lease may be extended
Start == "old"     \* "old": the first set is complete; "left": and no client runs;
                   \* "new": no node of it has a record
Restarts == 0      \* how many restarts there may be
Forget == "any"    \* when a node may restart: "any", "change", "still", "told"; or which:
                   \* "members", "removed"; "founded": when all have a record
Founders == {}     \* for each list: the numbers of the clients that may found a deployment
Remembers == FALSE \* whether they may copy a proposal that they read long ago
Others == {}       \* nodes of a second deployment, which is not that of the leases
Second == {}       \* ... the set that their records name
SecondEpoch == 1   \* ... and its epoch
Moved == {}        \* a member: its address leads some clients to the one node in Others
Astray == {}       \* ... the leases of these clients
Blind == {}        \* leases of clients whose user may not read the record

(* The rules. A configuration that must fail replaces one of them.           *)
Checked == TRUE         \* a vote counts only if the node's record admits its epoch and set
OwnId == TRUE           \* ... and the record has the id of the round
Readable == TRUE        \* ... and the client may read it
Chosen == "majority"    \* how many nodes of its list show the id that a client chooses: "majority", "one"
Heard == "only"         \* of which id a client tells an empty node: "chosen"; "only": before it has
                        \* chosen, also the only one that its list shows; "any"
Identity == TRUE        \* the record of one id is not replaced by that of another
Observers == {}         \* observers write nothing: or the lists of those that found
Provisional == TRUE     \* the first record of an id is written once its members show a proposal
Agreed == "all"         \* ... which of them: "all", "majority"
Counted == "now"        \* ... and when: "now", at one moment; "once", each at some time
Yields == "split"       \* a proposal of the same members yields to a smaller id: "no", "any"; "split":
                        \* if each member showed a proposal, and none was on a majority
Step == 1               \* by how many members two adjacent sets may differ
Successors == "one"     \* "one": by assumption; "ballots": by promises; "any"
Renewed == TRUE         \* an empty node refuses the ballots that were asked before it restarted
Grown == TRUE           \* a node in quarantine gives no promise
Sealed == TRUE          \* the next set is opened only after the floors are raised
Waits == "all"          \* "none"; "majority": one guard time after a majority of both sets is sealed;
                        \* "members": ... after each member of the next set was sealed once;
                        \* "all": each member has been sealed for a guard time by its own clock
Complete == "all"       \* who must have stored the set before the next is opened: "all", "majority"
Told == TRUE            \* ... and a removed member too
Word == "before"        \* what a client writes to an empty node: its "own" record; that of "one" other node;
                        \* "before": while its set is open, the set before
Boot == "all"           \* how many members must be reached for a client's own record or proposal, and be
                        \* empty: "all", "majority", "none"
Tell == "promised"      \* clients tell a node of a higher epoch: "no", "any", "promised" (within its promise)

VARIABLES
  \* of each node:
  record,   \* its marker: id, epoch, set, set of the epoch before, floor, ballot
  promise,  \* the highest ballot of an operator that asked it
  offers,   \* while it has no record: what clients are about to write
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
  chosen,   \* the ids that clients have chosen
  once,     \* of each node: the proposals that clients have read there
  \* of the operators:
  done,     \* the newest epoch that an operator has found complete
  sealed,   \* the newest epoch that was sealed by a majority of both sets
  proposals,\* the sets that operators write
  opened,   \* what a node has stored of it
  asking    \* of each operator: whom it asked for a promise, and what it adopts

nodeVars == <<record, promise, offers, young, restarts>>
leaseVars == <<stage, round, granted, holders, epoch, early, extends, chosen, once>>
opVars == <<done, sealed, proposals, opened, asking>>
vars == <<nodeVars, leaseVars, opVars>>

(* An id is the number of the client that founds, and its list.              *)
NoId == <<0, {}>>
FirstId == <<0, First>>
SecondId == <<-1, Second>>

Empty == [id |-> NoId, epoch |-> 0, set |-> {}, before |-> {}, floor |-> 0, ballot |-> 0]
NoRound == [id |-> NoId, epoch |-> 0, set |-> {}, sealed |-> 0]
NotAsking == [epoch |-> 0, set |-> {}, heard |-> {}, adopts |-> {}, ballot |-> 0]
Of(id, e, set) == [id |-> id, epoch |-> e, set |-> set, before |-> {}, ballot |-> 0]
WithFloor(r, floor) ==
  [id |-> r.id, epoch |-> r.epoch, set |-> r.set, before |-> r.before, floor |-> floor,
   ballot |-> r.ballot]

(* A proposal has epoch 0.                                                   *)
Proposed(id) == WithFloor(Of(id, IF Provisional THEN 0 ELSE 1, id[2]), IF Provisional THEN 0 ELSE 1)
Founded(id) == WithFloor(Of(id, 1, id[2]), 1)
IsProposal(r) == r # Empty /\ r.epoch = 0

IsMajority(some, set) == 2 * Cardinality(some \cap set) > Cardinality(set)
Max(a, b) == IF a > b THEN a ELSE b
Distance(a, b) == Cardinality((a \ b) \cup (b \ a))
IsValid(p) == stage[p] \in {"held", "extending"}

(* The name by which clients that reach a node know it.                      *)
Name(n) == IF n \in Others /\ Moved # {} THEN CHOOSE m \in Moved : TRUE ELSE n
Names(nodes) == IF Moved = {} THEN nodes ELSE {Name(n) : n \in nodes}
Reaches(p, n) == Moved = {} \/ (IF p \in Astray THEN n \notin Moved ELSE n \notin Others)

(* The nodes to which the names of a list lead.                              *)
Leads(list) == {list} \cup (IF list \cap Moved = {} THEN {} ELSE {(list \ Moved) \cup Others})

Initial == [n \in Nodes |->
  IF n \in Others THEN WithFloor(Of(SecondId, SecondEpoch, Second), SecondEpoch)
  ELSE IF Start # "new" /\ n \in First THEN WithFloor(Of(FirstId, 1, First), 1)
  ELSE Empty]

(* What a client of this list reaches that has chosen no id.                 *)
Reached(list) ==
  CASE Boot = "all" -> {list}
    [] Boot = "majority" -> {nodes \in SUBSET list : IsMajority(nodes, list)}
    [] Boot = "none" -> {}

(* The ids that clients may choose. Proposals do not count.                  *)
Shown(records) ==
  {id \in {records[n].id : n \in {m \in Nodes : records[m].epoch > 0}} :
    \E list \in Lists : \E nodes \in Leads(list) :
      LET shows == {n \in nodes : records[n].epoch > 0 /\ records[n].id = id}
      IN IF Chosen = "one" THEN shows # {} ELSE IsMajority(shows, nodes)}

(* What a client may know of the ids that it may have chosen: the first set, *)
(* or a record that it once read. If votes are not checked: its list.        *)
Known ==
  {Of(id, 1, id[2]) : id \in {c \in chosen : c # SecondId}}
    \cup (IF SecondId \in chosen THEN {Of(SecondId, SecondEpoch, Second)} ELSE {})
    \cup {r \in opened : r.id \in chosen}
    \cup (IF Checked THEN {} ELSE {Of(NoId, 1, list) : list \in Lists})

Init ==
  /\ record = Initial
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
  /\ once = [n \in Nodes |-> {}]
  /\ chosen = (IF Start = "left" THEN {} ELSE Shown(Initial))
  /\ done = Of(IF Start = "new" THEN NoId ELSE FirstId, 1, First)
  /\ sealed = 0
  /\ proposals = {}
  /\ opened = {}
  /\ asking = [o \in Operators |-> NotAsking]

-----------------------------------------------------------------------------
(* Clients.                                                                  *)

(* A vote counts for a round of epoch e only while floor <= e <= epoch.      *)
Counts(p, n, r) ==
  /\ Name(n) \in r.set
  /\ p \in Blind => ~Readable
  /\ Checked /\ p \notin Blind =>
       /\ OwnId => record[n].id = r.id
       /\ record[n].floor <= r.epoch
       /\ r.epoch <= record[n].epoch
       /\ record[n].epoch = r.epoch => record[n].set = r.set
       /\ record[n].epoch = r.epoch + 1 /\ record[n].before # {}
            => record[n].before = r.set

(* The key of another lease, or the quarantine while one counts on this node.*)
IsFree(n, p) == \A q \in Leases \ {p} : n \notin holders[q] \cup granted[q]

Vote(p, n, r) ==
  /\ Reaches(p, n)
  /\ Counts(p, n, r)
  /\ IsFree(n, p)
  /\ n \notin granted[p]
  /\ granted[p] # {} => p \notin young[n]
  /\ LET votes == granted[p] \cup {n}
         wins == IsMajority(Names(votes), r.set)
     IN /\ stage' = [stage EXCEPT ![p] =
             IF wins THEN "held" ELSE IF @ \in {"idle", "asking"} THEN "asking" ELSE "extending"]
        /\ round' = [round EXCEPT ![p] = IF wins THEN NoRound ELSE r]
        /\ granted' = [granted EXCEPT ![p] = IF wins THEN {} ELSE votes]
        /\ holders' = [holders EXCEPT ![p] = IF wins THEN votes ELSE @]
        /\ epoch' = [epoch EXCEPT ![p] = IF wins THEN r.epoch ELSE @]
        /\ early' = [early EXCEPT ![p] = IF wins THEN r.sealed ELSE @]
        /\ UNCHANGED <<chosen, once>>
        /\ young' = IF wins THEN [m \in Nodes |-> young[m] \ {p}] ELSE young

(* Any client may have started at any time, and have chosen then.            *)
ChooseId ==
  /\ Founders # {} \/ Others # {}
  /\ LET shown == Shown(record)
     IN ~shown \subseteq chosen /\ chosen' = chosen \cup shown
  /\ UNCHANGED <<nodeVars, stage, round, granted, holders, epoch, early, extends, once, opVars>>

(* A round begins with the epoch and set that its client knows.              *)
Begin(p, n) ==
  /\ \/ stage[p] = "idle" /\ UNCHANGED extends
     \/ stage[p] = "held" /\ extends[p] < Extensions /\ extends' = [extends EXCEPT ![p] = @ + 1]
  /\ \E k \in Known : Vote(p, n, [id |-> k.id, epoch |-> k.epoch, set |-> k.set, sealed |-> sealed])
  /\ UNCHANGED <<record, promise, offers, restarts, opVars>>

Grant(p, n) ==
  /\ stage[p] \in {"asking", "extending"}
  /\ Vote(p, n, round[p])
  /\ UNCHANGED <<record, promise, offers, restarts, extends, opVars>>

(* A client tells a node of the higher epoch of another.                     *)
TellOf(m, n) ==
  /\ Tell # "no"
  /\ record[n].epoch > 0
  /\ record[n].epoch < record[m].epoch
  /\ Identity => record[n].id = record[m].id
  /\ Tell = "promised" => promise[n] <= record[m].ballot
  /\ record' = [record EXCEPT ![n] = WithFloor(record[m], Max(@.floor, record[m].floor))]
  /\ UNCHANGED <<promise, offers, young, restarts, leaseVars, opVars>>

-----------------------------------------------------------------------------
(* Nodes that forget.                                                        *)

(* m was a member, has not stored the sealed set without it, and vouches for *)
(* the set before.                                                           *)
IsUntold(m) ==
  /\ record[m].epoch > 0
  /\ record[m].id = done.id
  /\ m \notin done.set
  /\ \/ m \in record[m].set /\ record[m].epoch < done.epoch
     \/ m \in record[m].before /\ record[m].floor < record[m].epoch

IsChanging == \E n \in Nodes : record[n].id = done.id /\ record[n].epoch > done.epoch

MayForget(n) ==
  CASE Forget = "any" -> TRUE
    [] Forget = "change" -> IsChanging
    [] Forget = "still" -> ~IsChanging
    [] Forget = "told" -> ~\E m \in Nodes : IsUntold(m)
    [] Forget = "removed" -> n \notin done.set
    [] Forget = "members" -> n \in done.set
    [] Forget = "founded" -> \A m \in First : record[m].epoch > 0

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
  /\ offers' = [offers EXCEPT ![n] = {}]
  /\ UNCHANGED <<leaseVars, opVars>>

(* A node stores a record where it has none. A record replaces a proposal.   *)
Accepts(stored, r) ==
  IF r.epoch > 0 THEN stored.epoch = 0
  ELSE \/ stored = Empty
       \/ /\ Yields = "any" \/ r.ballot = 1
          /\ IsProposal(stored) /\ stored.set = r.set /\ r.id[1] < stored.id[1]

Offer(nodes, r) ==
  /\ \E n \in nodes : r \notin offers[n] /\ Accepts(record[n], r)
  /\ offers' = [n \in Nodes |->
       IF n \in nodes /\ Accepts(record[n], r) THEN offers[n] \cup {r} ELSE offers[n]]
  /\ UNCHANGED <<record, promise, young, restarts, leaseVars, opVars>>

(* What the record of m says. A set that is open may be given up.            *)
WordOf(m) ==
  LET r == record[m]
  IN IF Word = "before" /\ r.floor < r.epoch
       THEN WithFloor(Of(r.id, r.epoch - 1, r.before), r.epoch - 1) ELSE [r EXCEPT !.ballot = 0]

Vouches(m, n) == record[m].epoch > 0 /\ {Name(m), Name(n)} \subseteq WordOf(m).set

(* Whether a client may copy the record of m: its id.                        *)
Tells(m, n) ==
  \/ Heard = "any"
  \/ record[m].id \in chosen
  \/ /\ Heard = "only"
     /\ \E list \in Lists : \E all \in Leads(list) : \E nodes \in Reached(all) :
          /\ {m, n} \subseteq nodes
          /\ \A l \in nodes : record[l].epoch = 0 \/ record[l].id = record[m].id

(* A client finds n without a record, reads that of m, and then writes to n. *)
OfferWord(n) ==
  /\ record[n].epoch = 0
  /\ \/ /\ Word # "own"
        /\ \E m \in Nodes \ {n} :
             Vouches(m, n) /\ Tells(m, n) /\ Offer({n}, WordOf(m))
     \/ /\ Word = "own"
        /\ \E k \in Known : n \in k.set /\ Offer({n}, WithFloor([k EXCEPT !.ballot = 0], k.epoch))

(* A client finds enough members of the set that it knows without a record   *)
(* at one time.                                                              *)
OfferOwn(k) ==
  LET empty == {n \in k.set : record[n].epoch = 0}
  IN /\ Boot # "none"
     /\ IF Boot = "all" THEN empty = k.set ELSE IsMajority(empty, k.set)
     /\ Offer(empty, WithFloor([k EXCEPT !.ballot = 0], k.epoch))

(* The node has still no record when the record arrives.                     *)
Store(n) ==
  /\ \E r \in offers[n] :
       /\ Accepts(record[n], r)
       /\ record' = [record EXCEPT ![n] = IF r.epoch = 0 THEN [r EXCEPT !.ballot = 0] ELSE r]
  /\ offers' = [offers EXCEPT ![n] = {r \in @ : Accepts(record'[n], r)}]
  /\ once' = IF Remembers /\ IsProposal(record'[n])
               THEN [once EXCEPT ![n] = @ \cup {record'[n]}] ELSE once
  /\ UNCHANGED <<promise, young, restarts, stage, round, granted, holders, epoch, early, extends,
                 chosen, opVars>>

-----------------------------------------------------------------------------
(* Clients that found a deployment.                                          *)

(* A client finds all that it reaches empty. It writes a proposal to one.    *)
ProposeFirst(i, list) ==
  /\ \E nodes \in Reached(list) : \A n \in nodes : record[n] = Empty
  /\ \E n \in list : Offer({n}, Proposed(<<i, list>>))

(* A client copies a proposal that it sees.                                  *)
CopyProposal(r) == \E n \in r.set : record[n] = Empty /\ Offer({n}, r)

(* A client sees a proposal on a majority of its members, and on the others  *)
(* one with the same members; its list shows nothing else. It writes the     *)
(* first record where the proposal is.                                       *)
WriteFirst(list, r) ==
  LET shown(n) == {record[n]} \cup (IF Counted = "once" THEN once[n] ELSE {})
      has == {n \in Nodes : r \in shown(n)}
      alike == {n \in Nodes : \E s \in shown(n) : IsProposal(s) /\ s.set = r.set}
  IN /\ IsMajority(has, r.set)
     /\ Agreed = "all" => \E nodes \in Reached(r.set) : nodes \subseteq alike
     /\ \E nodes \in Reached(list) : \A n \in nodes :
          n \in alike \/ (record[n] = Empty /\ (Agreed = "majority" \/ n \notin r.set))
     /\ Offer(has, Founded(r.id))

(* Each member shows a proposal, and none is on a majority: the smallest id  *)
(* replaces the others. Ballot 1 marks this write.                           *)
Replace(list) ==
  /\ Yields # "no"
  /\ \A n \in list : IsProposal(record[n]) /\ record[n].set = list
  /\ \A n \in list : ~IsMajority({m \in list : record[m] = record[n]}, list)
  /\ LET least == CHOOSE m \in list : \A n \in list : record[m].id[1] <= record[n].id[1]
     IN Offer(list, [record[least] EXCEPT !.ballot = 1])

Begins == \E list \in Lists \cup Observers :
  \/ Replace(list)
  \/ \E i \in Founders : ProposeFirst(i, list)
  \/ \E m \in list : \E r \in {record[m]} \cup once[m] :
       /\ IsProposal(r)
       /\ CopyProposal(r) \/ WriteFirst(list, r)

-----------------------------------------------------------------------------
(* Operators. What one has found or proposed, another may continue with.     *)

HasStored(n, r) ==
  record[n].id = r.id /\ record[n].epoch >= r.epoch /\ (Sealed => record[n].floor >= r.epoch)

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
  /\ r.id = done.id
  /\ r.epoch = done.epoch + 1
  /\ LET stored == {n \in r.set : HasStored(n, r) /\ (record[n].epoch = r.epoch => record[n].set = r.set)}
     IN IF Complete = "all" THEN stored = r.set ELSE IsMajority(stored, r.set)
  /\ Told => \A n \in r.before : HasStored(n, r)
  /\ ~\E p \in Leases : Delays(p, r)
  /\ done' = r
  /\ UNCHANGED <<nodeVars, leaseVars, sealed, proposals, opened, asking>>

Proposal(set, base, ballot) ==
  [id |-> done.id, epoch |-> base.epoch + 1, set |-> set, before |-> base.set, ballot |-> ballot]

Propose ==
  /\ Successors # "ballots"
  /\ done.id # NoId
  /\ done.epoch < MaxEpoch
  /\ Successors = "one" => ~\E r \in proposals : r.epoch = done.epoch + 1
  /\ \E set \in Choices :
       /\ Distance(set, done.set) \in 1..Step
       /\ Proposal(set, done, 0) \notin proposals
       /\ proposals' = proposals \cup {Proposal(set, done, 0)}
  /\ UNCHANGED <<nodeVars, leaseVars, done, sealed, opened, asking>>

(* The operator of a new deployment.                                         *)
Adopt ==
  /\ done.id = NoId
  /\ done.epoch < MaxEpoch
  /\ \E id \in chosen : id[2] = First /\ done' = [done EXCEPT !.id = id]
  /\ UNCHANGED <<nodeVars, leaseVars, sealed, proposals, opened, asking>>

(* An operator asks a majority of the complete set for a promise.            *)
Ask(o, n) ==
  /\ asking[o].epoch # -1
  /\ LET a == IF asking[o] = NotAsking
                THEN [NotAsking EXCEPT !.epoch = done.epoch, !.set = done.set] ELSE asking[o]
     IN /\ a.epoch < MaxEpoch
        /\ n \in a.set \ a.heard
        /\ record[n].epoch \in {a.epoch, a.epoch + 1}
        /\ Identity => record[n].id = done.id
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
  /\ ~IsProposal(record[n])
  /\ Identity => record[n].id \in {NoId, r.id}
  /\ \/ record[n].epoch < r.epoch
     \/ Successors = "ballots" /\ record[n].epoch = r.epoch
          /\ record[n].ballot < r.ballot /\ (record[n].floor < r.epoch \/ record[n].set = r.set)
  /\ promise[n] <= r.ballot
  /\ promise' = [promise EXCEPT ![n] = r.ballot]
  /\ record' = [record EXCEPT ![n] = WithFloor(r, Max(@.floor, r.epoch - 1))]
  /\ offers' = [offers EXCEPT ![n] = {}]
  /\ opened' = opened \cup {r}
  /\ UNCHANGED <<young, restarts, leaseVars, done, sealed, proposals, asking>>

HasOpened(r) == {n \in Nodes : record[n].id = r.id /\ record[n].epoch = r.epoch /\ record[n].set = r.set}

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
  \/ \E n \in Nodes : Restart(n) \/ OfferWord(n) \/ Store(n)
  \/ \E m, n \in Nodes : TellOf(m, n)
  \/ \E k \in Known : OfferOwn(k)
  \/ Begins
  \/ ChooseId
  \/ Adopt
  \/ Propose
  \/ \E o \in Operators : Choose(o) \/ \E n \in Nodes : Ask(o, n)
  \/ \E r \in proposals : Finish(r) \/ \E n \in Nodes : Open(n, r) \/ Seal(n, r)

Spec == Init /\ [][Next]_vars

Symmetric == Permutations(Alike) \cup Permutations(Leases \ (Astray \cup Blind))

-----------------------------------------------------------------------------
(* What must hold.                                                           *)

Exclusion == \A p, q \in Leases : p # q => ~(IsValid(p) /\ IsValid(q))

(* Two operators do not both find a majority for different sets of one epoch.*)
Agreement == \A m, n \in Nodes :
  record[m].epoch = record[n].epoch /\ record[m].floor = record[m].epoch
    /\ record[n].floor = record[n].epoch => record[m].set = record[n].set

(* When no client can continue to found, some list can be used.              *)
Settled ==
  ~(ENABLED (Begins \/ \E n \in Nodes : Store(n) \/ OfferWord(n))) => Shown(record) # {}

(* What must not hold, so that the configurations reach what they are for.   *)

NeverFounded == ~\E p \in Leases : IsValid(p) /\ epoch[p] = 1
OneId == \A m, n \in Nodes :
  record[m].epoch > 0 /\ record[n].epoch > 0 => record[m].id = record[n].id
NeverThirdSet == ~(done.epoch = 3 /\ \E p \in Leases : IsValid(p) /\ epoch[p] = 3)
NeverExtendedAcross == ~\E p \in Leases : IsValid(p) /\ extends[p] > 0 /\ epoch[p] > 1
NeverAdopted == ~\E r, s \in proposals : r.epoch = s.epoch /\ r.set = s.set /\ r.ballot < s.ballot
=============================================================================
