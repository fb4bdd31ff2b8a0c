----------------------------- MODULE MultiLock -----------------------------
(* Two names on a few nodes: locks on one of them beside locks on both. A     *)
(* request for a lock on both names is one script at each node, which grants  *)
(* both or none. Break takes one of the names from its holder.                *)
(*                                                                            *)
(* Time, requests and tokens are those of HandOff.tla. There is no hand-off   *)
(* here: each grant is one lease.                                             *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Nodes,      \* the masters
  Names,
  First,      \* one of them
  Grants,     \* each is one round of some client, with one lease id and one token
  NoGrant,    \* the owner of a key that is absent
  Quorum,
  Validity,   \* how long a grant is valid, from before its first send
  KeyLife,    \* the life of a key
  VoteAge,    \* the votes of an acquire older than this do not count
  TopToken,   \* the largest token
  Extensions, \* whether leases are extended (once each)
  Breaks,     \* whether an operator breaks the lock on the first name (one request)
  Flaw        \* the rule that is wrong, or "none"

VARIABLES
  key,       \* of each name at each node: owner, life, fence, ended
  grant,     \* of each grant: see Idle
  breakToken \* the token of the request to break, once it was sent

vars == <<key, grant, breakToken>>

Symmetric == Permutations(Nodes) \cup Permutations(Grants)

None == 0 \* no token
Proposals == 1..TopToken

Max(a, b) == IF a > b THEN a ELSE b

Free ==
  [owner |-> NoGrant,
   life  |-> 0,       \* how long the key still lives
   fence |-> None,    \* the highest token granted
   ended |-> None]    \* the highest token of a lease that has ended

Idle ==
  [stage   |-> "idle",  \* then "asking", "held", "ended" (it was held), "undone" (it never was)
   names   |-> {},
   token   |-> None,
   left    |-> 0,       \* of its validity
   votes   |-> {},      \* nodes that granted to the round
   doomed  |-> FALSE,   \* a lease on one of its names with an equal or larger token had been
                        \* granted before it was asked for
   extends |-> "no",    \* "asking", "over"
   gain    |-> 0,       \* of the validity that the open extension would give
   renewed |-> {},      \* nodes that executed the open extension
   broken  |-> FALSE,   \* a break has deleted one of its keys of the first name
   exempt  |-> {}]      \* grants that were broken when it won

IsLease(g) == grant[g].stage \in {"held", "ended"}
IsValid(g) == grant[g].stage = "held" /\ grant[g].left > 0
Shared(a, b) == grant[a].names \cap grant[b].names

Init ==
  /\ key = [n \in Nodes |-> [x \in Names |-> Free]]
  /\ grant = [g \in Grants |-> Idle]
  /\ breakToken = None

(* What no longer matters is reset, so that states that differ in nothing     *)
(* else are equal.                                                            *)
Decided(r, stage) ==
  [r EXCEPT !.stage = stage, !.left = 0, !.votes = {}, !.gain = 0, !.renewed = {},
            !.extends = IF @ = "asking" THEN "over" ELSE @,
            !.doomed = @ /\ stage = "ended",
            !.broken = FALSE, !.exempt = {}]

Without(f, decided) == [g \in Grants |-> [f[g] EXCEPT !.exempt = @ \ decided]]

-----------------------------------------------------------------------------
(* Time.                                                                      *)

IsOld(left) == Validity - left > VoteAge

Later(r) ==
  LET aged == [r EXCEPT !.left = @ - 1, !.gain = IF @ > 0 THEN @ - 1 ELSE 0]
  IN CASE r.stage = "asking" /\ IsOld(aged.left) -> Decided(r, "undone")
       [] r.stage = "held" /\ aged.left = 0 -> Decided(r, "ended")
       [] r.stage \in {"asking", "held"} -> aged
       [] OTHER -> r

Tick ==
  LET later == [g \in Grants |-> Later(grant[g])]
  IN grant' = Without(later, {g \in Grants : later[g].stage \in {"ended", "undone"}})
  /\ key' = [n \in Nodes |-> [x \in Names |->
       CASE key[n][x].life = 0 -> key[n][x]
         [] key[n][x].life = 1 -> [key[n][x] EXCEPT !.owner = NoGrant, !.life = 0]
         [] OTHER -> [key[n][x] EXCEPT !.life = @ - 1]]]
  /\ UNCHANGED breakToken

-----------------------------------------------------------------------------
(* Clients.                                                                   *)

Ask(g) ==
  /\ grant[g].stage = "idle"
  /\ \E names \in SUBSET Names \ {{}}, t \in Proposals :
       grant' = [grant EXCEPT ![g] =
         [Idle EXCEPT !.stage = "asking", !.names = names, !.token = t, !.left = Validity,
                      !.doomed = \E b \in Grants :
                        IsLease(b) /\ grant[b].names \cap names # {} /\ grant[b].token >= t]]
  /\ UNCHANGED <<key, breakToken>>

Win(g) ==
  /\ grant[g].stage = "asking"
  /\ Cardinality(grant[g].votes) >= Quorum
  /\ grant' = [grant EXCEPT ![g].stage = "held", ![g].votes = {},
                            ![g].exempt = {b \in Grants \ {g} : grant[b].broken}]
  /\ UNCHANGED <<key, breakToken>>

GiveUp(g) ==
  /\ grant[g].stage = "asking"
  /\ grant' = Without([grant EXCEPT ![g] = Decided(@, "undone")], {g})
  /\ UNCHANGED <<key, breakToken>>

(* Released, expired, lost: it first ends locally; the clean-up is the same.  *)
End(g) ==
  /\ grant[g].stage = "held"
  /\ grant' = Without([grant EXCEPT ![g] = Decided(@, "ended")], {g})
  /\ UNCHANGED <<key, breakToken>>

Extend(g) ==
  /\ Extensions
  /\ IsValid(g)
  /\ grant[g].extends = "no"
  /\ grant' = [grant EXCEPT ![g].extends = "asking", ![g].gain = Validity]
  /\ UNCHANGED <<key, breakToken>>

Renew(g) ==
  /\ IsValid(g)
  /\ grant[g].extends = "asking"
  /\ Cardinality(grant[g].renewed) >= Quorum
  /\ grant' = [grant EXCEPT ![g].left = grant[g].gain, ![g].extends = "over",
                            ![g].gain = 0, ![g].renewed = {}]
  /\ UNCHANGED <<key, breakToken>>

Break ==
  /\ Breaks
  /\ breakToken = None
  /\ breakToken' \in Proposals
  /\ UNCHANGED <<key, grant>>

-----------------------------------------------------------------------------
(* Nodes. Each of these is one script.                                        *)

(* The names whose keys the script writes: all names of the request, or none. *)
(* A flawed node writes those that it can.                                    *)
AllOrNone(names, may) == IF may = names \/ Flaw = "some-names" THEN may ELSE {}

Acquire(g, n) ==
  /\ grant[g].stage # "idle"
  /\ LET t == grant[g].token
         names == grant[g].names
         isFresh(x) == t > key[n][x].fence \/ (Flaw = "first-fence" /\ x # First /\ First \in names)
         may == {x \in names : key[n][x].owner \in {NoGrant, g} /\ isFresh(x)}
         written == AllOrNone(names, may)
     IN /\ written # {}
        /\ key' = [key EXCEPT ![n] = [x \in Names |->
             IF x \in written
             THEN [@[x] EXCEPT !.owner = g, !.life = KeyLife, !.fence = t] ELSE @[x]]]
        /\ grant' = [grant EXCEPT
             ![g].votes = IF grant[g].stage = "asking" THEN @ \cup {n} ELSE @]
  /\ UNCHANGED breakToken

Prolong(g, n) ==
  /\ grant[g].extends # "no"
  /\ LET t == grant[g].token
         names == grant[g].names
         may == {x \in names : key[n][x].owner \in {NoGrant, g} /\ key[n][x].ended < t}
         written == IF Flaw = "extends-some" THEN may ELSE AllOrNone(names, may)
     IN /\ written # {}
        /\ key' = [key EXCEPT ![n] = [x \in Names |->
             IF x \in written
             THEN [@[x] EXCEPT !.owner = g, !.life = KeyLife, !.fence = Max(@, t)] ELSE @[x]]]
        /\ grant' = [grant EXCEPT
             ![g].renewed = IF grant[g].extends = "asking" THEN @ \cup {n} ELSE @]
  /\ UNCHANGED breakToken

(* The script treats each name by itself: one that another lease holds does   *)
(* not prevent the release of the others.                                     *)
Release(g, n) ==
  /\ grant[g].stage \in {"ended", "undone"}
  /\ LET t == grant[g].token
         isOwn(x) == key[n][x].owner = g \/ Flaw = "any-owner"
     IN key' = [key EXCEPT ![n] = [x \in Names |->
          IF x \notin grant[g].names THEN @[x]
          ELSE [@[x] EXCEPT !.owner = IF isOwn(x) THEN NoGrant ELSE @,
                            !.life = IF isOwn(x) THEN 0 ELSE @,
                            !.fence = Max(@, t),
                            !.ended = IF grant[g].stage = "ended" THEN Max(@, t) ELSE @]]]
  /\ UNCHANGED <<grant, breakToken>>

BreakAt(n) ==
  /\ breakToken # None
  /\ LET k == key[n][First]
         top == Max(breakToken, Max(k.fence, k.ended))
     IN /\ key' = [key EXCEPT ![n][First] = [Free EXCEPT !.fence = top, !.ended = top]]
        /\ grant' = IF k.owner # NoGrant /\ grant[k.owner].stage \in {"asking", "held"}
                    THEN [grant EXCEPT ![k.owner].broken = TRUE] ELSE grant
  /\ UNCHANGED breakToken

Next ==
  \/ Tick
  \/ \E g \in Grants : Ask(g) \/ Win(g) \/ GiveUp(g) \/ End(g) \/ Extend(g) \/ Renew(g)
  \/ \E g \in Grants, n \in Nodes : Acquire(g, n) \/ Prolong(g, n) \/ Release(g, n)
  \/ Break
  \/ \E n \in Nodes : BreakAt(n)

(* When every grant is decided, no invariant can break any more.              *)
Undecided == \E g \in Grants : grant[g].stage \in {"idle", "asking", "held"}

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What must hold.                                                            *)

(* A grant that was broken before another won is exempt beside that one, but  *)
(* only on the name that was broken.                                          *)
Exclusion ==
  \A a, b \in Grants : a # b /\ IsValid(a) /\ IsValid(b) =>
    \/ Shared(a, b) = {}
    \/ Shared(a, b) = {First} /\ (a \in grant[b].exempt \/ b \in grant[a].exempt)

TokensDistinct ==
  \A a, b \in Grants : a # b /\ IsLease(a) /\ IsLease(b) /\ Shared(a, b) # {} =>
    grant[a].token # grant[b].token

(* If a lease was granted before another on one of its names was asked for,   *)
(* its token is smaller.                                                      *)
TokensOrdered == \A g \in Grants : IsLease(g) => ~grant[g].doomed

KeysDie ==
  \A n \in Nodes, x \in Names :
    (key[n][x].owner = NoGrant) = (key[n][x].life = 0) /\ key[n][x].life <= KeyLife

(* What must not hold. A configuration that is to fail names one of these.    *)

(* A lock on both names, with leases on each of them before or after it.      *)
NeverBoth ==
  ~\E g \in Grants : IsValid(g) /\ grant[g].names = Names /\
     \A x \in Names : \E b \in Grants : IsLease(b) /\ grant[b].names = {x}

(* Two leases at once, on different names.                                    *)
NeverBeside == ~\E a, b \in Grants : a # b /\ IsValid(a) /\ IsValid(b)

(* A lock on both names whose first name was broken and has another holder.   *)
NeverHalfBroken ==
  ~\E a, b \in Grants : IsValid(a) /\ IsValid(b) /\ grant[a].names = Names
     /\ grant[b].names = {First}

NeverRenewed ==
  ~\E g \in Grants : IsValid(g) /\ grant[g].names = Names /\ grant[g].extends = "over"
     /\ grant[g].left = Validity
=============================================================================
