---------------------------- MODULE HandOffTrace ----------------------------
(* Checks that the history of a simulated world is a behaviour of HandOff.    *)
(*                                                                            *)
(* Each event of the trace must be the action of HandOff that it names, at    *)
(* its time. Time is in microseconds, and Ticks moves it. In the trace every  *)
(* clock may be wrong by the rate that the world allows. So Validity is the   *)
(* longest that it may be by a slow clock, and KeyLife the shortest that it   *)
(* may be by a fast one. The invariants of HandOff are checked on the way.    *)
(*                                                                            *)
(* HandOff leaves out some things that occur in a trace. They are the actions *)
(* below that begin with "Also".                                              *)
(*                                                                            *)
(* The module Recorded is written for each trace. It defines Trace, a         *)
(* sequence of events with at, k (the kind), g, n, t, x and y. A constant     *)
(* would be evaluated again in each state.                                    *)
EXTENDS HandOff, Sequences, Recorded

VARIABLES
  pos,  \* the next event
  clock

traceVars == <<vars, pos, clock>>

(* A grant is extended more than once, and the requests may overlap.          *)
AlsoExtends(g) ==
  /\ IsValid(g)
  /\ grant' = [grant EXCEPT ![g].extends = "asking", ![g].gain = Validity,
                            ![g].renewed = IF grant[g].extends = "asking" THEN @ ELSE {}]
  /\ UNCHANGED <<node, breakToken>>

(* The extension that succeeds was asked for "ago".                           *)
AlsoRenews(g, ago) ==
  /\ IsValid(g)
  /\ grant[g].extends = "asking"
  /\ Cardinality(grant[g].renewed) >= Quorum
  /\ LET last == ago = Validity - grant[g].gain
     IN grant' = [grant EXCEPT
          ![g].left = Max(@, Validity - ago),
          ![g].extends = IF last THEN "over" ELSE @,
          ![g].gain = IF last THEN 0 ELSE @,
          ![g].renewed = IF last THEN {} ELSE @]
  /\ UNCHANGED <<node, breakToken>>

(* The extension decides nothing any more. All nodes that were asked have     *)
(* replied, but they are no quorum; or it is an early one, which asks only    *)
(* the nodes that lack the key, and never decides.                            *)
AlsoSettles(g) ==
  /\ grant' = [grant EXCEPT ![g].extends = IF @ = "asking" THEN "over" ELSE @, ![g].gain = 0,
                            ![g].renewed = {}]
  /\ UNCHANGED <<node, breakToken>>

(* A restart, a lost key or a step of the clock: the node is as the trace     *)
(* says. Redlock.tla says why a quorum of such nodes does no harm.            *)
AlsoFails(n, g, fence, ended, life) ==
  /\ node' = [node EXCEPT ![n] = [owner |-> g, life |-> life, fence |-> fence,
                                  ended |-> ended, barred |-> None]]
  /\ UNCHANGED <<grant, breakToken>>

(* An operator may break the lock more than once.                             *)
AlsoBreaks(n, t) ==
  /\ breakToken' = t
  /\ UNCHANGED <<node, grant>>

(* The history may also have ended what time has ended in the model.          *)
IsOver(g) == grant[g].stage = "ended" /\ UNCHANGED vars
IsUndone(g) == grant[g].stage = "undone" /\ UNCHANGED vars

Is(e) ==
  CASE e.k = "ask" -> Ask(e.g) /\ grant'[e.g].token = e.t
    [] e.k = "win" -> grant[e.g].token = e.t /\ Win(e.g)
    [] e.k = "undone" -> GiveUp(e.g) \/ IsUndone(e.g)
    [] e.k = "end" -> End(e.g) \/ IsOver(e.g)
    [] e.k = "local" -> HandOff(e.g) /\ e.t = grant'[e.g].token + grant'[e.g].handOffs
    [] e.k = "extend" -> AlsoExtends(e.g)
    [] e.k = "renew" -> AlsoRenews(e.g, e.x)
    [] e.k = "settled" -> AlsoSettles(e.g)
    [] e.k = "grants" -> AcquireOf(e.g, e.n, e.t)
    [] e.k = "prolongs" -> Prolong(e.g, e.n)
    [] e.k = "frees" -> (grant[e.g].stage = "ended") = (e.x = 1) /\ Release(e.g, e.n)
    [] e.k = "operator" -> AlsoBreaks(e.n, e.t)
    [] e.k = "breaks" -> breakToken = e.t /\ BreakAt(e.n)
    [] e.k = "fails" -> AlsoFails(e.n, e.g, e.t, e.x, e.y)

TraceInit == Init /\ pos = 1 /\ clock = 0

(* Prints the event that the behaviour has reached.                           *)
Progress == PrintT(<<"reached", 1, pos>>)

TraceNext ==
  /\ Progress
  /\ pos <= Len(Trace)
  /\ LET e == Trace[pos]
     IN IF clock < e.at
        THEN Ticks(e.at - clock) /\ clock' = e.at /\ UNCHANGED pos
        ELSE Is(e) /\ pos' = pos + 1 /\ UNCHANGED clock

TraceSpec == TraceInit /\ [][TraceNext]_traceVars

(* Only these events make leases valid, or give tokens.                       *)
After(kinds) == pos > 1 /\ clock = Trace[pos - 1].at /\ Trace[pos - 1].k \in kinds
TraceExclusion == After({"win", "local", "renew"}) => Exclusion
TraceTokensDistinct == After({"win", "local"}) => TokensDistinct
TraceTokensOrdered == After({"win", "local"}) => TokensOrdered
=============================================================================
