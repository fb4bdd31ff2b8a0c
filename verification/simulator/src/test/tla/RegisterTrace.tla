---------------------------- MODULE RegisterTrace ----------------------------
(* Checks that what clients saw is a behaviour of Register.                   *)
(*                                                                            *)
(* A grant takes effect once, at some time between its request and its        *)
(* return. No client sees when a lease ends, only until when it was certainly *)
(* valid. So both are silent steps, and TLC finds where they fit. A grant     *)
(* whose client was killed before it returned is not in a trace. It could     *)
(* only raise the fence, and the register allows that it never happened.      *)
(*                                                                            *)
(* The module Recorded is written for each run. It defines Traces, each a     *)
(* sequence of events with k (the kind) and l (the lease), and Tokens, which  *)
(* holds the token of each lease of each trace. A constant would be evaluated *)
(* again in each state.                                                       *)
EXTENDS Register, Sequences, TLC, Recorded

VARIABLES
  i,       \* the trace
  pos,     \* its next event
  asked,   \* leases that were requested and are not granted
  granted  \* leases that were granted, and whose request has not returned

traceVars == <<vars, i, pos, asked, granted>>

TraceInit ==
  /\ Init
  /\ i \in 1..Len(Traces)
  /\ TLCSet(i, 1)
  /\ pos = 1
  /\ asked = {}
  /\ granted = {}

(* Prints the furthest event of each trace that a behaviour has reached.      *)
Progress ==
  pos > TLCGet(i) => TLCSet(i, pos) /\ PrintT(<<"reached", i, pos>>)

Is(e) ==
  CASE e.k = "ask" -> asked' = asked \cup {e.l} /\ UNCHANGED <<vars, granted>>
    [] e.k = "got" -> e.l \in granted /\ granted' = granted \ {e.l} /\ UNCHANGED <<vars, asked>>
    [] e.k = "valid" -> Valid(e.l) /\ UNCHANGED <<asked, granted>>

Read ==
  /\ pos <= Len(Traces[i])
  /\ Is(Traces[i][pos])
  /\ pos' = pos + 1
  /\ UNCHANGED i

SilentGrant ==
  \E l \in asked :
    /\ Grant(l, Tokens[i][l])
    /\ asked' = asked \ {l}
    /\ granted' = granted \cup {l}
    /\ UNCHANGED <<i, pos>>

SilentEnd == End(owner) /\ UNCHANGED <<i, pos, asked, granted>>

TraceNext == Progress /\ (Read \/ SilentGrant \/ SilentEnd)

TraceSpec == TraceInit /\ [][TraceNext]_traceVars
=============================================================================
