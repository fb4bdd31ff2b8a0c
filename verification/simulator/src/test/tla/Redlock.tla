------------------------------ MODULE Redlock ------------------------------
(* One name on a few nodes, with time: acquire, extend and repair, expiry,  *)
(* release and roll-back, restarts that lose everything, quarantine, fencing *)
(* tokens with the window of the nodes' clocks.                              *)
(*                                                                           *)
(* The rules are those of docs/algorithm.md. Time is counted in ticks. Each  *)
(* action of a client may happen at any later moment, or never, so pauses,   *)
(* slow links and lost messages need no actions of their own. A sent request *)
(* is executed in any order, at any later time, any number of times or       *)
(* never. A restart of the node drops it: connections do not survive that.   *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Nodes,        \* the masters
  Acquisitions, \* each is one attempt of some client, with one lease id and one token
  NoOwner,      \* the owner of a key that is absent
  Quorum,
  MaxTime,      \* the length of the history
  Validity,     \* how long a lease is valid, from before its first send
  KeyLife,      \* the shortest life of a key; below Validity: clocks beyond the drift
  VoteAge,      \* the votes of an acquire older than this do not count
  Quarantine,   \* how long a node that restarted does not vote; 0: the guard is off
  Young,        \* how long a reply to extend does not count in quarantine
  Slack,        \* how far behind the node's clock a token may lie
  Ahead,        \* how far ahead of it
  FenceLife,    \* the life of a fence after its last use; 0: for ever
  Restarts,     \* how many restarts there may be
  Extensions    \* whether leases are extended (once each)

VARIABLES
  now,
  restarts,
  \* of each node:
  owner, dies,         \* the lock key, and when it expires
  fence, ended, fades, \* the fence key, and when it expires
  born,                \* when it last started without its keys
  \* of each acquisition:
  stage,    \* "idle", "asking", "held", "ended" (it was held), "undone" (it never was)
  token,
  doomed,   \* when it began, a lease with an equal or larger token had been granted
  begun,    \* when its first request was sent, or that of its open extension
  until,    \* when its validity ends
  asked,    \* nodes that may still execute its acquire
  votes,    \* nodes that granted to the round
  extends,  \* "no", "asking", "over"
  prolongs, \* nodes that may still execute its extend
  renewed,  \* nodes that extended or repaired, and have not restarted since
  past      \* those that did, and have restarted since; the client has not detected it. Each with
            \* the time at which it had started when it replied

node == <<owner, dies, fence, ended, fades, born>>
clients == <<stage, token, doomed, begun, until, asked, votes, extends, prolongs, renewed, past>>
vars == <<now, restarts, node, clients>>

Symmetric == Permutations(Nodes) \cup Permutations(Acquisitions)

LongAgo == -1000
None == 0 \* no token; tokens are above the window's lower end at time 0
First == Slack + 1 \* the nodes' clocks at time 0, so that all tokens are above None

Clock == now + First
Max(a, b) == IF a > b THEN a ELSE b

IsLease(a) == stage[a] \in {"held", "ended"}
Votes(n) == now >= born[n] + Quarantine

(* A reply to extend counts if the node had been up for long enough, as the    *)
(* client sees it: see ExtendRound.counts. This holds as well for a node that  *)
(* has restarted since. AnyPast is the wrong rule that a configuration has     *)
(* in place of PastCounts.                                                     *)
Counts(start) == now >= start + Quarantine \/ now >= start + Young
PastCounts(start) == Counts(start)
AnyPast(start) == TRUE
Fades == IF FenceLife = 0 THEN 0 ELSE now + FenceLife

Init ==
  /\ now = 0
  /\ restarts = 0
  /\ owner = [n \in Nodes |-> NoOwner]
  /\ dies = [n \in Nodes |-> 0]
  /\ fence = [n \in Nodes |-> None]
  /\ ended = [n \in Nodes |-> None]
  /\ fades = [n \in Nodes |-> 0]
  /\ born = [n \in Nodes |-> LongAgo]
  /\ stage = [a \in Acquisitions |-> "idle"]
  /\ token = [a \in Acquisitions |-> None]
  /\ doomed = [a \in Acquisitions |-> FALSE]
  /\ begun = [a \in Acquisitions |-> 0]
  /\ until = [a \in Acquisitions |-> 0]
  /\ asked = [a \in Acquisitions |-> {}]
  /\ votes = [a \in Acquisitions |-> {}]
  /\ extends = [a \in Acquisitions |-> "no"]
  /\ prolongs = [a \in Acquisitions |-> {}]
  /\ renewed = [a \in Acquisitions |-> {}]
  /\ past = [a \in Acquisitions |-> {}]

-----------------------------------------------------------------------------
(* Time. A key is absent from the tick on in which its time to live ends.    *)
(* Values that no longer matter are reset, so that states that differ in     *)
(* nothing else are equal. A round that is too old to count and a lease that *)
(* has ended are reset as well: their clean-up may come now, later or never. *)

Start(at) == IF at + Max(Quarantine, Young) <= now + 1 THEN LongAgo ELSE at

Tick ==
  /\ now < MaxTime
  /\ restarts > 0 \/ \E a \in Acquisitions : stage[a] # "idle" \* otherwise nothing has begun
  /\ now' = now + 1
  /\ LET dead == {n \in Nodes : owner[n] # NoOwner /\ dies[n] <= now + 1}
         faded == {n \in Nodes : FenceLife > 0 /\ fence[n] # None /\ fades[n] <= now + 1}
     IN /\ owner' = [n \in Nodes |-> IF n \in dead THEN NoOwner ELSE owner[n]]
        /\ dies' = [n \in Nodes |-> IF n \in dead THEN 0 ELSE dies[n]]
        /\ fence' = [n \in Nodes |-> IF n \in faded THEN None ELSE fence[n]]
        /\ ended' = [n \in Nodes |-> IF n \in faded THEN None ELSE ended[n]]
        /\ fades' = [n \in Nodes |-> IF n \in faded THEN 0 ELSE fades[n]]
  /\ born' = [n \in Nodes |-> Start(born[n])]
  /\ LET late == {a \in Acquisitions : stage[a] = "asking" /\ now + 1 > begun[a] + VoteAge}
         over == {a \in Acquisitions : stage[a] = "held" /\ now + 1 >= until[a]}
         gone == late \cup over
     IN /\ stage' = [a \in Acquisitions |->
             IF a \in late THEN "undone" ELSE IF a \in over THEN "ended" ELSE stage[a]]
        /\ until' = [a \in Acquisitions |-> IF a \in gone THEN 0 ELSE until[a]]
        /\ votes' = [a \in Acquisitions |-> IF a \in gone THEN {} ELSE votes[a]]
        /\ begun' = [a \in Acquisitions |-> IF a \in gone THEN 0 ELSE begun[a]]
        /\ extends' = [a \in Acquisitions |->
             IF a \in over /\ extends[a] = "asking" THEN "over" ELSE extends[a]]
        /\ renewed' = [a \in Acquisitions |-> IF a \in gone THEN {} ELSE renewed[a]]
        /\ past' = [a \in Acquisitions |->
             IF a \in gone THEN {} ELSE {<<p[1], Start(p[2])>> : p \in past[a]}]
  /\ UNCHANGED <<restarts, token, doomed, asked, prolongs>>

-----------------------------------------------------------------------------
(* Clients.                                                                  *)

(* The client proposes any token: the model trusts no clock of a client.     *)
(* Tokens that no node could accept in this round are omitted.               *)
Ask(a) ==
  /\ stage[a] = "idle"
  /\ \E t \in (Clock - Slack)..(Clock + VoteAge + Ahead) :
       /\ token' = [token EXCEPT ![a] = t]
       /\ doomed' = [doomed EXCEPT ![a] = \E b \in Acquisitions : IsLease(b) /\ token[b] >= t]
  /\ stage' = [stage EXCEPT ![a] = "asking"]
  /\ begun' = [begun EXCEPT ![a] = now]
  /\ asked' = [asked EXCEPT ![a] = {n \in Nodes : Votes(n)}]
  /\ UNCHANGED <<now, restarts, node, until, votes, extends, prolongs, renewed, past>>

Win(a) ==
  /\ stage[a] = "asking"
  /\ Cardinality(votes[a]) >= Quorum
  /\ now <= begun[a] + VoteAge
  /\ now < begun[a] + Validity
  /\ stage' = [stage EXCEPT ![a] = "held"]
  /\ until' = [until EXCEPT ![a] = begun[a] + Validity]
  /\ begun' = [begun EXCEPT ![a] = 0]
  /\ votes' = [votes EXCEPT ![a] = {}]
  /\ UNCHANGED <<now, restarts, node, token, doomed, asked, extends, prolongs, renewed, past>>

GiveUp(a) ==
  /\ stage[a] = "asking"
  /\ stage' = [stage EXCEPT ![a] = "undone"]
  /\ begun' = [begun EXCEPT ![a] = 0]
  /\ votes' = [votes EXCEPT ![a] = {}]
  /\ UNCHANGED <<now, restarts, node, token, doomed, until, asked, extends, prolongs, renewed, past>>

(* Released, expired, lost: it first ends locally; the clean-up is the same. *)
End(a) ==
  /\ stage[a] = "held"
  /\ stage' = [stage EXCEPT ![a] = "ended"]
  /\ begun' = [begun EXCEPT ![a] = 0]
  /\ until' = [until EXCEPT ![a] = 0]
  /\ extends' = [extends EXCEPT ![a] = IF @ = "asking" THEN "over" ELSE @]
  /\ renewed' = [renewed EXCEPT ![a] = {}]
  /\ past' = [past EXCEPT ![a] = {}]
  /\ UNCHANGED <<now, restarts, node, token, doomed, asked, votes, prolongs>>

(* Quarantined nodes get the request as well, so that they store the lease.  *)
Extend(a) ==
  /\ Extensions
  /\ stage[a] = "held"
  /\ extends[a] = "no"
  /\ now < until[a]
  /\ extends' = [extends EXCEPT ![a] = "asking"]
  /\ begun' = [begun EXCEPT ![a] = now]
  /\ prolongs' = [prolongs EXCEPT ![a] = Nodes]
  /\ UNCHANGED <<now, restarts, node, stage, token, doomed, until, asked, votes, renewed, past>>

Renew(a) ==
  /\ stage[a] = "held"
  /\ extends[a] = "asking"
  /\ LET present == {n \in renewed[a] : Counts(born[n])}
         earlier == {p[1] : p \in {p \in past[a] : PastCounts(p[2])}}
     IN Cardinality(present \cup earlier) >= Quorum
  /\ now < until[a] \* the old validity; a reply counts however late it is
  /\ until' = [until EXCEPT ![a] = begun[a] + Validity]
  /\ begun' = [begun EXCEPT ![a] = 0]
  /\ extends' = [extends EXCEPT ![a] = "over"]
  /\ renewed' = [renewed EXCEPT ![a] = {}]
  /\ past' = [past EXCEPT ![a] = {}]
  /\ UNCHANGED <<now, restarts, node, stage, token, doomed, asked, votes, prolongs>>

-----------------------------------------------------------------------------
(* Nodes. Each of these is one script.                                       *)

InWindow(t) == t >= Clock - Slack /\ t <= Clock + Ahead
Storable(t) == t <= Clock + Ahead

Acquire(a, n) ==
  /\ n \in asked[a]
  /\ owner[n] \in {NoOwner, a}
  /\ token[a] > fence[n]
  /\ InWindow(token[a])
  /\ owner' = [owner EXCEPT ![n] = a]
  /\ dies' = [dies EXCEPT ![n] = now + KeyLife]
  /\ fence' = [fence EXCEPT ![n] = token[a]]
  /\ fades' = [fades EXCEPT ![n] = Fades]
  /\ votes' = [votes EXCEPT ![a] = IF stage[a] = "asking" THEN @ \cup {n} ELSE @]
  /\ UNCHANGED <<now, restarts, asked, ended, born, stage, token, doomed, begun, until, extends,
                 prolongs, renewed, past>>

Prolong(a, n) ==
  /\ n \in prolongs[a]
  /\ owner[n] = a \/ (owner[n] = NoOwner /\ ended[n] < token[a])
  /\ owner' = [owner EXCEPT ![n] = a]
  /\ dies' = [dies EXCEPT ![n] = now + KeyLife]
  /\ fence' = [fence EXCEPT ![n] = IF Storable(token[a]) THEN Max(@, token[a]) ELSE @]
  /\ fades' = [fades EXCEPT ![n] = IF fence'[n] = None THEN 0 ELSE Fades]
  /\ renewed' = [renewed EXCEPT ![a] = IF extends[a] = "asking" THEN @ \cup {n} ELSE @]
  /\ UNCHANGED <<now, restarts, prolongs, ended, born, stage, token, doomed, begun, until, asked, votes,
                 extends, past>>

Free(a, n) ==
  /\ stage[a] \in {"ended", "undone"}
  /\ owner' = [owner EXCEPT ![n] = IF @ = a THEN NoOwner ELSE @]
  /\ dies' = [dies EXCEPT ![n] = IF owner[n] = a THEN 0 ELSE @]
  /\ fence' = [fence EXCEPT ![n] = IF Storable(token[a]) THEN Max(@, token[a]) ELSE @]
  /\ ended' = [ended EXCEPT ![n] =
       IF stage[a] = "ended" /\ Storable(token[a]) THEN Max(@, token[a]) ELSE @]
  /\ fades' = [fades EXCEPT ![n] = IF fence'[n] = None THEN 0 ELSE Fades]
  /\ UNCHANGED <<now, restarts, born, stage, token, doomed, begun, until, asked, votes, extends,
                 prolongs, renewed, past>>

(* The node restarts without its keys. Requests in flight are lost with its  *)
(* connections. Clients that have not detected the drop of the connection    *)
(* still have the votes that it gave before.                                 *)
Restart(n) ==
  /\ restarts < Restarts
  /\ restarts' = restarts + 1
  /\ owner' = [owner EXCEPT ![n] = NoOwner]
  /\ dies' = [dies EXCEPT ![n] = 0]
  /\ fence' = [fence EXCEPT ![n] = None]
  /\ ended' = [ended EXCEPT ![n] = None]
  /\ fades' = [fades EXCEPT ![n] = 0]
  /\ born' = [born EXCEPT ![n] = IF Max(Quarantine, Young) = 0 THEN LongAgo ELSE now]
  /\ asked' = [a \in Acquisitions |-> asked[a] \ {n}]
  /\ prolongs' = [a \in Acquisitions |-> prolongs[a] \ {n}]
  /\ past' = [a \in Acquisitions |-> IF n \in renewed[a] THEN past[a] \cup {<<n, born[n]>>} ELSE past[a]]
  /\ renewed' = [a \in Acquisitions |-> renewed[a] \ {n}]
  /\ UNCHANGED <<now, stage, token, doomed, begun, until, votes, extends>>

Next ==
  \/ Tick
  \/ \E a \in Acquisitions : Ask(a) \/ Win(a) \/ GiveUp(a) \/ End(a) \/ Extend(a) \/ Renew(a)
  \/ \E a \in Acquisitions, n \in Nodes : Acquire(a, n) \/ Prolong(a, n) \/ Free(a, n)
  \/ \E n \in Nodes : Restart(n)

(* When every acquisition is decided, no invariant can break any more.       *)
Undecided == \E a \in Acquisitions : stage[a] \in {"idle", "asking", "held"}

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What must hold.                                                           *)

IsValid(a) == stage[a] = "held" /\ now < until[a]

Exclusion == \A a, b \in Acquisitions : a # b => ~(IsValid(a) /\ IsValid(b))

TokensDistinct ==
  \A a, b \in Acquisitions : a # b /\ IsLease(a) /\ IsLease(b) => token[a] # token[b]

(* If a lease was granted before another was requested, its token is smaller. *)
TokensOrdered == \A a \in Acquisitions : IsLease(a) => ~doomed[a]

KeysDie == \A n \in Nodes : owner[n] # NoOwner => dies[n] > now /\ dies[n] <= now + KeyLife

(* What must not hold. A configuration that is to fail names one of these,   *)
(* which shows that leases are granted and renewed in the model.             *)

NoLeaseAfterRestart ==
  ~(restarts > 0 /\ \E a, b \in Acquisitions : a # b /\ IsLease(a) /\ IsLease(b))

NeverRenewed == \A a \in Acquisitions : ~(stage[a] = "held" /\ until[a] > Validity + VoteAge)

NeverRenewedLate == \A a \in Acquisitions :
  ~(extends[a] = "asking" /\ Cardinality(renewed[a]) >= Quorum /\ now > begun[a] + VoteAge)
=============================================================================
