------------------------------ MODULE HandOff ------------------------------
(* One name on a few nodes: how the lock changes hands inside one client,     *)
(* and how an operator breaks it.                                             *)
(*                                                                            *)
(* A grant is what the nodes store: one lease id and one token. Its leases    *)
(* follow one another without a round, and each takes the next token of the   *)
(* grant. See docs/algorithm.md, "In one process".                            *)
(*                                                                            *)
(* Time is counted in ticks. The model stores what is left of each time, so a *)
(* history may have any length. Each action of a client may happen at any     *)
(* later moment, or never. A sent request is executed at each node in any     *)
(* order, at any later time, any number of times or never. No node restarts,  *)
(* and no token has a window: Redlock.tla covers both.                        *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Nodes,      \* the masters
  Grants,     \* each is one round of some client, with one lease id and one token
  NoGrant,    \* the owner of a key that is absent
  Quorum,
  Validity,   \* how long a grant is valid, from before its first send
  KeyLife,    \* the life of a key
  VoteAge,    \* the votes of an acquire older than this do not count
  PerGrant,   \* how many tokens a grant owns: its own, and those up to the next multiple
  TopToken,   \* the largest token
  Extensions, \* whether grants are extended (once each)
  Breaks,     \* whether an operator breaks the lock (one request)
  Flaw        \* the rule that is wrong, or "none"

VARIABLES
  node,      \* of each node: owner, life, fence, ended, barred
  grant,     \* of each grant: see Idle
  breakToken \* the token of the request to break, once it was sent

vars == <<node, grant, breakToken>>

Symmetric == Permutations(Nodes) \cup Permutations(Grants)

None == 0 \* no token

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b

(* Every client proposes multiples, and so does an operator. The model trusts *)
(* no clock of a client, so any of them may be proposed.                      *)
Proposals == {t \in 1..TopToken : t % (IF Flaw = "any-token" THEN 1 ELSE PerGrant) = 0}

Tokens == IF Flaw = "next-token" THEN PerGrant + 1 ELSE PerGrant

Free ==
  [owner  |-> NoGrant,
   life   |-> 0,       \* how long the key still lives
   fence  |-> None,    \* the highest token granted
   ended  |-> None,    \* the highest token of a lease that has ended
   barred |-> None]    \* no key with this token or a lower one may be stored any more

Idle ==
  [stage    |-> "idle",   \* then "asking", "held", "ended" (it was held), "undone" (it never was)
   token    |-> None,
   handOffs |-> 0,
   age      |-> 0,        \* of its votes; VoteAge + 1: they are too old
   left     |-> 0,        \* of its validity
   votes    |-> {},       \* nodes that granted to the round
   order    |-> "right",  \* "wrong": before it was asked for, a lease with an equal or larger token
                          \* had been granted; "excused": the same, but see TokensOrdered
   extends  |-> "no",     \* "asking", "over"
   gain     |-> 0,        \* of the validity that the open extension would give
   renewed  |-> {},       \* nodes that executed the open extension
   broken   |-> FALSE,    \* a break has deleted one of its keys
   exempt   |-> {}]       \* grants that were broken when it won

IsLease(g) == grant[g].stage \in {"held", "ended"}
IsValid(g) == grant[g].stage = "held" /\ grant[g].left > 0
LastToken(g) == grant[g].token + grant[g].handOffs

Init ==
  /\ node = [n \in Nodes |-> Free]
  /\ grant = [g \in Grants |-> Idle]
  /\ breakToken = None

(* What no longer matters is reset, so that states that differ in nothing     *)
(* else are equal.                                                            *)
Decided(r, stage) ==
  [r EXCEPT !.stage = stage, !.age = 0, !.left = 0, !.votes = {}, !.gain = 0, !.renewed = {},
            !.extends = IF @ = "asking" THEN "over" ELSE @,
            !.order = IF stage = "undone" THEN "right" ELSE @,
            !.broken = FALSE, !.exempt = {}]

Without(f, decided) == [g \in Grants |-> [f[g] EXCEPT !.exempt = @ \ decided]]

-----------------------------------------------------------------------------
(* Time. A lease ends with its validity, a round when its votes are too old,  *)
(* and a key with its life.                                                   *)

LaterBy(r, d) ==
  LET aged == [r EXCEPT !.age = Min(@ + d, VoteAge + 1),
                        !.left = Max(@ - d, 0),
                        !.gain = Max(@ - d, 0)]
  IN CASE r.stage = "asking" /\ aged.age > VoteAge -> Decided(r, "undone")
       [] r.stage = "held" /\ aged.left = 0 /\ Flaw # "after-validity" -> Decided(r, "ended")
       [] r.stage \in {"asking", "held"} -> aged
       [] OTHER -> r

(* So many ticks at once.                                                     *)
Ticks(d) ==
  LET later == [g \in Grants |-> LaterBy(grant[g], d)]
  IN grant' = Without(later, {g \in Grants : later[g].stage \in {"ended", "undone"}})
  /\ node' = [n \in Nodes |->
       CASE node[n].life = 0 -> node[n]
         [] node[n].life > d -> [node[n] EXCEPT !.life = @ - d]
         [] OTHER -> [node[n] EXCEPT !.owner = NoGrant, !.life = 0]]
  /\ UNCHANGED breakToken

Tick == Ticks(1)

-----------------------------------------------------------------------------
(* Clients.                                                                   *)

Begun(t) ==
  [Idle EXCEPT !.stage = "asking", !.token = t, !.left = Validity,
               !.order = IF \E b \in Grants : IsLease(b) /\ LastToken(b) >= t
                         THEN "wrong" ELSE "right"]

Ask(g) ==
  /\ grant[g].stage = "idle"
  /\ \E t \in Proposals : grant' = [grant EXCEPT ![g] = Begun(t)]
  /\ UNCHANGED <<node, breakToken>>

(* A hand-off: the next lease of the grant. No node is asked, and validity is *)
(* that of the grant. The votes must still count.                             *)
HandOff(g) ==
  /\ grant[g].stage = "held"
  /\ grant[g].left > 0 \/ Flaw = "after-validity"
  /\ grant[g].age <= VoteAge \/ Flaw \in {"old-votes", "after-validity"}
  /\ grant[g].extends # "asking"
  /\ grant[g].handOffs + 1 < Tokens
  /\ LET passed == \E b \in Grants \ {g} : IsLease(b) /\ LastToken(b) > LastToken(g)
         excused == grant[g].broken /\ grant[g].age <= VoteAge
     IN grant' = [grant EXCEPT
          ![g].handOffs = @ + 1,
          ![g].left = IF Flaw = "new-validity" THEN Validity ELSE @,
          ![g].order = IF ~passed THEN @ ELSE IF excused /\ @ # "wrong" THEN "excused" ELSE "wrong"]
  /\ UNCHANGED <<node, breakToken>>

Win(g) ==
  /\ grant[g].stage = "asking"
  /\ Cardinality(grant[g].votes) >= Quorum
  /\ grant' = [grant EXCEPT ![g].stage = "held", ![g].votes = {},
                            ![g].exempt = {b \in Grants \ {g} : grant[b].broken}]
  /\ UNCHANGED <<node, breakToken>>

GiveUp(g) ==
  /\ grant[g].stage = "asking"
  /\ grant' = Without([grant EXCEPT ![g] = Decided(@, "undone")], {g})
  /\ UNCHANGED <<node, breakToken>>

(* Released, expired, lost: it first ends locally; the clean-up is the same.  *)
End(g) ==
  /\ grant[g].stage = "held"
  /\ grant' = Without([grant EXCEPT ![g] = Decided(@, "ended")], {g})
  /\ UNCHANGED <<node, breakToken>>

Extend(g) ==
  /\ Extensions
  /\ IsValid(g)
  /\ grant[g].extends = "no"
  /\ grant' = [grant EXCEPT ![g].extends = "asking", ![g].gain = Validity]
  /\ UNCHANGED <<node, breakToken>>

Renew(g) ==
  /\ IsValid(g)
  /\ grant[g].extends = "asking"
  /\ Cardinality(grant[g].renewed) >= Quorum
  /\ grant' = [grant EXCEPT ![g].left = Max(@, grant[g].gain), ![g].extends = "over",
                            ![g].gain = 0, ![g].renewed = {}]
  /\ UNCHANGED <<node, breakToken>>

(* An operator breaks the lock. Its token need not be above those that the    *)
(* nodes know: the operator may not have heard of them.                       *)
Break ==
  /\ Breaks
  /\ breakToken = None
  /\ breakToken' \in Proposals
  /\ UNCHANGED <<node, grant>>

-----------------------------------------------------------------------------
(* Nodes. Each of these is one script.                                        *)

(* acquire.lua.                                                               *)
AcquireOf(g, n, t) ==
  /\ grant[g].stage # "idle"
  /\ LET repeated == node[n].owner = g /\ node[n].fence = t
     IN /\ repeated \/ (node[n].owner \in {NoGrant, g} /\ t > node[n].fence)
        /\ node' = [node EXCEPT ![n] =
             [@ EXCEPT !.owner = g, !.life = IF repeated THEN @ ELSE KeyLife, !.fence = t]]
        /\ grant' = [grant EXCEPT
             ![g].votes = IF grant[g].stage = "asking" /\ grant[g].token = t THEN @ \cup {n} ELSE @]
  /\ UNCHANGED breakToken

Acquire(g, n) == AcquireOf(g, n, grant[g].token)

(* extend.lua. It writes a missing key again, unless a later lease has ended. *)
Prolong(g, n) ==
  /\ grant[g].extends # "no"
  /\ node[n].owner \in {NoGrant, g}
  /\ node[n].ended < grant[g].token
  /\ node' = [node EXCEPT ![n] =
       [@ EXCEPT !.owner = g, !.life = KeyLife, !.fence = Max(@, grant[g].token)]]
  /\ grant' = [grant EXCEPT
       ![g].renewed = IF grant[g].extends = "asking" THEN @ \cup {n} ELSE @]
  /\ UNCHANGED breakToken

(* release.lua: the release of a lease, or the roll-back of a round.          *)
Release(g, n) ==
  /\ \/ grant[g].stage \in {"ended", "undone"}
     \/ Flaw = "releases-predecessor" /\ grant[g].stage = "held" /\ grant[g].handOffs > 0
  /\ LET t == grant[g].token
         over == grant[g].stage # "undone"
         own == node[n].owner = g
     IN node' = [node EXCEPT ![n] =
          [@ EXCEPT !.owner = IF own THEN NoGrant ELSE @,
                    !.life = IF own THEN 0 ELSE @,
                    !.fence = Max(@, t),
                    !.ended = IF over THEN Max(@, t) ELSE @,
                    !.barred = IF over /\ own THEN Max(@, t) ELSE @]]
  /\ UNCHANGED <<grant, breakToken>>

(* break.lua. It deletes the key of any lease. Fence and 'ended' rise to the  *)
(* highest known token, so the key of that lease does not come back.          *)
BreakAt(n) ==
  /\ breakToken # None
  /\ LET g == node[n].owner
         top == Max(breakToken, Max(node[n].fence, node[n].ended))
     IN /\ node' = [node EXCEPT ![n] =
             [@ EXCEPT !.owner = NoGrant,
                       !.life = 0,
                       !.fence = CASE Flaw = "break-keeps-fence" -> @
                                   [] Flaw = "break-resets-fence" -> breakToken
                                   [] OTHER -> top,
                       !.ended = CASE Flaw = "break-keeps-ended" -> @
                                   [] Flaw = "break-resets-fence" -> breakToken
                                   [] OTHER -> top,
                       !.barred = Max(@, IF g = NoGrant THEN breakToken
                                         ELSE Max(breakToken, grant[g].token))]]
        /\ grant' = IF g # NoGrant /\ grant[g].stage \in {"asking", "held"}
                    THEN [grant EXCEPT ![g].broken = TRUE] ELSE grant
  /\ UNCHANGED breakToken

Next ==
  \/ Tick
  \/ \E g \in Grants : Ask(g) \/ Win(g) \/ HandOff(g) \/ GiveUp(g) \/ End(g)
  \/ \E g \in Grants : Extend(g) \/ Renew(g)
  \/ \E g \in Grants, n \in Nodes : Acquire(g, n) \/ Prolong(g, n) \/ Release(g, n)
  \/ Break
  \/ \E n \in Nodes : BreakAt(n)

(* When every grant is decided, no invariant of the clients can break.        *)
Undecided == \E g \in Grants : grant[g].stage \in {"idle", "asking", "held"}

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What must hold.                                                            *)

(* A grant that was broken before another won is exempt beside that one.      *)
Exclusion ==
  \A a, b \in Grants : a # b /\ IsValid(a) /\ IsValid(b) =>
    a \in grant[b].exempt \/ b \in grant[a].exempt

TokensDistinct ==
  \A a, b \in Grants : a # b /\ IsLease(a) /\ IsLease(b) =>
    LastToken(a) < grant[b].token \/ LastToken(b) < grant[a].token

(* If a lease was granted before another was asked for, its token is smaller. *)
(* A lease that follows in a grant is asked for at the hand-off. It may       *)
(* have a smaller token than an earlier one only if its grant was broken, and *)
(* only while the votes of the grant count.                                   *)
TokensOrdered == \A g \in Grants : IsLease(g) => grant[g].order # "wrong"

(* No key comes back that was released or broken.                             *)
NoneComesBack ==
  \A n \in Nodes : node[n].owner # NoGrant => grant[node[n].owner].token > node[n].barred

KeysDie ==
  \A n \in Nodes : (node[n].owner = NoGrant) = (node[n].life = 0) /\ node[n].life <= KeyLife

(* What must not hold. A configuration that is to fail names one of these,    *)
(* which shows what the model reaches, and what a break does not promise.     *)

NeverAllTokens == ~\E g \in Grants : IsValid(g) /\ grant[g].handOffs = PerGrant - 1

(* A grant that was handed off, and lives on by an extension.                 *)
NeverRenewed ==
  ~\E g \in Grants : IsValid(g) /\ grant[g].handOffs > 0 /\ grant[g].age >= Validity

(* The holder of a broken lock continues beside the next holder.              *)
NeverBesideBroken == ~\E a, b \in Grants : a # b /\ IsValid(a) /\ IsValid(b)

(* It also hands the lock off, with a token below that of the next holder.    *)
NeverExcused == \A g \in Grants : grant[g].order # "excused"
=============================================================================
