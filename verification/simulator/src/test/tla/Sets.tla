------------------------------- MODULE Sets -------------------------------
(* A change of the node set while clients acquire and extend leases of one   *)
(* name: nodes store a record (epoch, set, floor), operators change the set  *)
(* and may die at any step, nodes restart empty, clients have old lists.     *)
(*                                                                           *)
(* There is no clock. A wait is the condition that it waits for: after one   *)
(* guard time each lease that was granted before has ended or was extended.  *)
(* A key of a lease that is over may expire at any later moment. An action   *)
(* may happen at any later moment or never. So pauses, partitions and dead   *)
(* operators need no actions of their own.                                   *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Nodes,       \* all masters that there may be
  First,       \* the set of epoch 1
  Lists,       \* the lists of masters with which clients may be configured
  Leases,      \* each is one attempt of some client
  NoOwner,      \* the owner of a key that is absent
  Operators,   \* each carries one change, with a ballot of its own: numbers from 1
  MaxEpoch,
  Restarts,    \* how many restarts there may be
  Extensions,  \* how often each lease may be extended
  \* The rules. A configuration that must fail changes one of them.
  Checked,     \* a vote counts only if the node's record admits its epoch and set
  Step,        \* by how many members two adjacent sets may differ
  Ballots,     \* a node that promised to a later operator refuses an earlier one
  Sealed,      \* the next set is opened only after the floors are raised
  Waits,       \* ... and after one guard time
  Complete,    \* "all": each member has stored the set before the next is opened; "majority"
  Word,        \* who may write the record of an empty node: "own", "one", "majority"
  Untold       \* whether a removed master that has not stored its removal vouches for a record

VARIABLES
  \* of each node:
  record,  \* its marker: epoch, set, floor, and the ballot that wrote the set
  promise, \* the highest ballot of an operator that asked it
  key,     \* the lease that it stores
  votes,   \* whether its quarantine is over
  restarts,
  \* of each lease:
  stage,   \* "idle", "asking", "held", "extending", "over"
  view,    \* the epoch and set that its client knows
  round,   \* the epoch and set with which its newest round began, and the highest sealed epoch then
  granted, \* the nodes whose votes this round has
  epoch,   \* the epoch of the lease: that of the round that granted or extended it
  holders, \* the nodes that store it, by the votes of that round
  early,   \* the highest sealed epoch when that round began
  extends, \* how often it was extended
  \* of each operator:
  doing,   \* "idle", "asking", "writing"
  base,    \* the epoch and set that it changes
  target,  \* the set that it writes, with the highest ballot that wrote it before
  heard    \* the nodes that promised

nodeVars == <<record, promise, key, votes, restarts>>
leaseVars == <<stage, view, round, granted, epoch, holders, early, extends>>
opVars == <<doing, base, target, heard>>
vars == <<nodeVars, leaseVars, opVars>>

Symmetric == Permutations(First) \cup Permutations(Leases)

Empty == [epoch |-> 0, set |-> {}, before |-> {}, floor |-> 0, ballot |-> 0]
NoSet == [epoch |-> 0, set |-> {}]
NoRound == [epoch |-> 0, set |-> {}, sealed |-> 0]
NoTarget == [set |-> {}, ballot |-> 0]
Bootstrap == [epoch |-> 1, set |-> First, before |-> {}, floor |-> 1, ballot |-> 0]

IsMajority(some, set) == 2 * Cardinality(some \cap set) > Cardinality(set)
Max(a, b) == IF a > b THEN a ELSE b
IsValid(p) == stage[p] \in {"held", "extending"}

(* The highest epoch that a majority of its members has as its floor.        *)
SealedEpoch ==
  LET of(k) == \E n \in Nodes : /\ record[n].epoch = k
                                /\ IsMajority({m \in Nodes : record[m].floor >= k}, record[n].set)
  IN CHOOSE k \in 0..MaxEpoch : /\ k = 0 \/ of(k)
                                /\ \A j \in (k + 1)..MaxEpoch : ~of(j)

Init ==
  /\ record = [n \in Nodes |-> IF n \in First THEN Bootstrap ELSE Empty]
  /\ promise = [n \in Nodes |-> 0]
  /\ key = [n \in Nodes |-> NoOwner]
  /\ votes = [n \in Nodes |-> TRUE]
  /\ restarts = 0
  /\ stage = [p \in Leases |-> "idle"]
  /\ view \in [Leases -> {[epoch |-> 1, set |-> s] : s \in Lists}]
  /\ round = [p \in Leases |-> NoRound]
  /\ granted = [p \in Leases |-> {}]
  /\ epoch = [p \in Leases |-> 0]
  /\ holders = [p \in Leases |-> {}]
  /\ early = [p \in Leases |-> 0]
  /\ extends = [p \in Leases |-> 0]
  /\ doing = [o \in Operators |-> "idle"]
  /\ base = [o \in Operators |-> NoSet]
  /\ target = [o \in Operators |-> NoTarget]
  /\ heard = [o \in Operators |-> {}]

-----------------------------------------------------------------------------
(* Clients.                                                                  *)

Learn(p, n) ==
  /\ stage[p] \in {"idle", "held"}
  /\ record[n].epoch > view[p].epoch
  /\ view' = [view EXCEPT ![p] = [epoch |-> record[n].epoch, set |-> record[n].set]]
  /\ UNCHANGED <<nodeVars, stage, round, granted, epoch, holders, early, extends, opVars>>

Begin(p, from, to) ==
  /\ stage[p] = from
  /\ stage' = [stage EXCEPT ![p] = to]
  /\ round' = [round EXCEPT ![p] =
       [epoch |-> view[p].epoch, set |-> view[p].set, sealed |-> SealedEpoch]]
  /\ granted' = [granted EXCEPT ![p] = {}]

Ask(p) ==
  /\ Begin(p, "idle", "asking")
  /\ UNCHANGED <<nodeVars, view, epoch, holders, early, extends, opVars>>

Extend(p) ==
  /\ extends[p] < Extensions
  /\ Begin(p, "held", "extending")
  /\ extends' = [extends EXCEPT ![p] = @ + 1]
  /\ UNCHANGED <<nodeVars, view, epoch, holders, early, opVars>>

(* The node is asked by p's newest round, and its vote is one of that epoch. *)
Counts(p, n) ==
  /\ n \in round[p].set
  /\ votes[n]
  /\ Checked =>
       /\ record[n].floor <= round[p].epoch
       /\ round[p].epoch <= record[n].epoch
       /\ record[n].epoch = round[p].epoch => record[n].set = round[p].set

Grant(p, n) ==
  /\ stage[p] \in {"asking", "extending"}
  /\ n \notin granted[p]
  /\ Counts(p, n)
  /\ key[n] \in {NoOwner, p}
  /\ key' = [key EXCEPT ![n] = p]
  /\ granted' = [granted EXCEPT ![p] = @ \cup {n}]
  /\ UNCHANGED <<record, promise, votes, restarts, stage, view, round, epoch, holders, early,
                 extends, opVars>>

Win(p) ==
  /\ stage[p] \in {"asking", "extending"}
  /\ IsMajority(granted[p], round[p].set)
  /\ stage' = [stage EXCEPT ![p] = "held"]
  /\ epoch' = [epoch EXCEPT ![p] = round[p].epoch]
  /\ early' = [early EXCEPT ![p] = round[p].sealed]
  /\ holders' = [holders EXCEPT ![p] = granted[p]]
  /\ granted' = [granted EXCEPT ![p] = {}]
  /\ round' = [round EXCEPT ![p] = NoRound]
  /\ UNCHANGED <<nodeVars, view, extends, opVars>>

(* Released, refused, or its time is over.                                   *)
End(p) ==
  /\ stage[p] \in {"asking", "held", "extending"}
  /\ stage' = [stage EXCEPT ![p] = "over"]
  /\ granted' = [granted EXCEPT ![p] = {}]
  /\ round' = [round EXCEPT ![p] = NoRound]
  /\ holders' = [holders EXCEPT ![p] = {}]
  /\ epoch' = [epoch EXCEPT ![p] = 0]
  /\ early' = [early EXCEPT ![p] = 0]
  /\ view' = [view EXCEPT ![p] = NoSet]
  /\ extends' = [extends EXCEPT ![p] = 0]
  /\ UNCHANGED <<nodeVars, opVars>>

(* A key that no valid lease and no round counts on.                         *)
Expire(n) ==
  /\ key[n] # NoOwner
  /\ n \notin holders[key[n]] /\ n \notin granted[key[n]]
  /\ key' = [key EXCEPT ![n] = NoOwner]
  /\ UNCHANGED <<record, promise, votes, restarts, leaseVars, opVars>>

-----------------------------------------------------------------------------
(* Nodes that forget.                                                        *)

Restart(n) ==
  /\ restarts < Restarts
  /\ record[n] # Empty
  /\ restarts' = restarts + 1
  /\ record' = [record EXCEPT ![n] = Empty]
  /\ promise' = [promise EXCEPT ![n] = 0]
  /\ key' = [key EXCEPT ![n] = NoOwner]
  /\ votes' = [votes EXCEPT ![n] = FALSE]
  /\ UNCHANGED <<leaseVars, opVars>>

(* After one guard time no lease counts on a key that this node has lost.    *)
Wake(n) ==
  /\ ~votes[n]
  /\ record[n] # Empty
  /\ \A p \in Leases : n \in holders[p] \cup granted[p] => key[n] = p
  /\ votes' = [votes EXCEPT ![n] = TRUE]
  /\ UNCHANGED <<record, promise, key, restarts, leaseVars, opVars>>

(* m is a member by its own record, but the present set does not have it.    *)
IsUntold(m) ==
  /\ m \in record[m].set
  /\ \E n \in Nodes : record[n].epoch > record[m].epoch /\ m \notin record[n].set

Vouches(m, n) ==
  /\ record[m] # Empty
  /\ n \in record[m].set
  /\ m \in record[m].set
  /\ Untold \/ ~IsUntold(m)

Told(n, r) ==
  /\ record[n] = Empty
  /\ record' = [record EXCEPT ![n] = [r EXCEPT !.ballot = 0]]
  /\ UNCHANGED <<promise, key, votes, restarts, leaseVars, opVars>>

Revive(n) ==
  \/ /\ Word = "own" \* a client writes what it knows
     /\ \E p \in Leases : /\ stage[p] # "over"
                          /\ n \in view[p].set
                          /\ Told(n, [epoch |-> view[p].epoch, set |-> view[p].set, before |-> {},
                                      floor |-> view[p].epoch, ballot |-> 0])
  \/ /\ Word = "one"
     /\ \E m \in Nodes \ {n} : Vouches(m, n) /\ Told(n, record[m])
  \/ /\ Word = "majority"
     /\ \E m \in Nodes \ {n} :
          /\ Vouches(m, n)
          /\ LET same == {l \in Nodes \ {n} : record[l].epoch >= record[m].epoch
                                              /\ record[l].floor >= record[m].floor}
             IN IsMajority(same, record[m].set)
          /\ Told(n, record[m])

-----------------------------------------------------------------------------
(* Operators. Each has a ballot. It reads a node, asks a majority of the set *)
(* that it finds for a promise, adopts what an earlier operator may have     *)
(* opened, writes the set, then the floor. It may stop at any point.         *)

Members(r) == {n \in r.set : record[n].epoch >= r.epoch}

IsComplete(r) ==
  LET stored == {n \in r.set : record[n].epoch >= r.epoch
                               /\ (Sealed => record[n].floor >= r.epoch)}
      waited == \A p \in Leases :
                  /\ ~(IsValid(p) /\ epoch[p] < r.epoch /\ early[p] < r.epoch)
                  /\ ~(stage[p] \in {"asking", "extending"} /\ round[p].epoch < r.epoch
                       /\ round[p].sealed < r.epoch)
  IN /\ IF Complete = "all" THEN stored = r.set ELSE IsMajority(stored, r.set)
     /\ Waits => waited

Take(o, n) ==
  /\ doing[o] = "idle"
  /\ record[n] # Empty
  /\ record[n].epoch < MaxEpoch
  /\ IsComplete(record[n])
  /\ doing' = [doing EXCEPT ![o] = "asking"]
  /\ base' = [base EXCEPT ![o] = [epoch |-> record[n].epoch, set |-> record[n].set]]
  /\ UNCHANGED <<nodeVars, leaseVars, target, heard>>

(* Another operator has died, or is slow.                                    *)
Resume(o, n) ==
  /\ doing[o] = "idle"
  /\ record[n].before # {}
  /\ ~IsComplete(record[n])
  /\ doing' = [doing EXCEPT ![o] = "asking"]
  /\ base' = [base EXCEPT ![o] = [epoch |-> record[n].epoch - 1, set |-> record[n].before]]
  /\ UNCHANGED <<nodeVars, leaseVars, target, heard>>

(* A node that has stored the next set already tells of it.                  *)
Promise(o, n) ==
  /\ doing[o] = "asking"
  /\ n \in base[o].set \ heard[o]
  /\ record[n].epoch \in {base[o].epoch, base[o].epoch + 1}
  /\ ~Ballots \/ promise[n] < o
  /\ promise' = [promise EXCEPT ![n] = Max(@, o)]
  /\ heard' = [heard EXCEPT ![o] = @ \cup {n}]
  /\ target' = [target EXCEPT ![o] =
       IF record[n].epoch = base[o].epoch + 1 /\ (target[o].set = {} \/ record[n].ballot > @.ballot)
         THEN [set |-> record[n].set, ballot |-> record[n].ballot] ELSE @]
  /\ UNCHANGED <<record, key, votes, restarts, leaseVars, doing, base>>

Distance(a, b) == Cardinality((a \ b) \cup (b \ a))

Choose(o) ==
  /\ doing[o] = "asking"
  /\ IsMajority(heard[o], base[o].set)
  /\ \E s \in SUBSET Nodes :
       /\ s # {}
       /\ IF target[o].set # {} /\ Ballots THEN s = target[o].set
          ELSE Distance(s, base[o].set) \in 1..Step
       /\ target' = [target EXCEPT ![o] = [set |-> s, ballot |-> o]]
  /\ doing' = [doing EXCEPT ![o] = "writing"]
  /\ heard' = [heard EXCEPT ![o] = {}]
  /\ UNCHANGED <<nodeVars, leaseVars, base>>

Opened(o) == {n \in Nodes : /\ record[n].epoch = base[o].epoch + 1
                            /\ record[n].set = target[o].set}

Open(o, n) ==
  /\ doing[o] = "writing"
  /\ n \in base[o].set \cup target[o].set
  /\ record[n].epoch <= base[o].epoch
     \/ (record[n].epoch = base[o].epoch + 1 /\ record[n].ballot < o
         /\ record[n].floor < base[o].epoch + 1 /\ record[n].set # target[o].set)
  /\ record[n] = Empty => n \notin base[o].set \* an empty member gets its record by Revive
  /\ ~Ballots \/ promise[n] <= o
  /\ promise' = [promise EXCEPT ![n] = Max(@, o)]
  /\ record' = [record EXCEPT ![n] =
       [epoch |-> base[o].epoch + 1, set |-> target[o].set, before |-> base[o].set,
        floor |-> Max(@.floor, base[o].epoch), ballot |-> o]]
  /\ UNCHANGED <<key, votes, restarts, leaseVars, opVars>>

Seal(o, n) ==
  /\ doing[o] = "writing"
  /\ record[n].epoch = base[o].epoch + 1
  /\ record[n].set = target[o].set
  /\ record[n].floor < base[o].epoch + 1
  /\ IsMajority(Opened(o), base[o].set) /\ IsMajority(Opened(o), target[o].set)
  /\ record' = [record EXCEPT ![n].floor = base[o].epoch + 1]
  /\ UNCHANGED <<promise, key, votes, restarts, leaseVars, opVars>>

Next ==
  \/ \E p \in Leases : Ask(p) \/ Extend(p) \/ Win(p) \/ End(p)
  \/ \E p \in Leases, n \in Nodes : Learn(p, n) \/ Grant(p, n)
  \/ \E n \in Nodes : Expire(n) \/ Restart(n) \/ Wake(n) \/ Revive(n)
  \/ \E o \in Operators : Choose(o)
  \/ \E o \in Operators, n \in Nodes :
       Take(o, n) \/ Resume(o, n) \/ Promise(o, n) \/ Open(o, n) \/ Seal(o, n)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What must hold.                                                           *)

Exclusion == \A p, q \in Leases : p # q => ~(IsValid(p) /\ IsValid(q))

(* What must not hold, so that the configurations reach what they are for.   *)

NeverTwoChanges == ~\E n \in Nodes : record[n].epoch = 3 /\ record[n].floor = 3
NeverExtendedAcross == ~\E p \in Leases : IsValid(p) /\ extends[p] > 0 /\ epoch[p] > 1
=============================================================================
