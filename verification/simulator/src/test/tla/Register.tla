------------------------------ MODULE Register ------------------------------
(* One name as its clients see it: a register of owner and token. HandOff,    *)
(* Redlock and MultiLock are meant to behave like this.                       *)
EXTENDS Integers

VARIABLES
  owner, \* the lease that is valid, or None
  fence  \* the highest token granted

vars == <<owner, fence>>

None == 0

Init == owner = None /\ fence = 0

Grant(l, t) ==
  /\ owner = None
  /\ t > fence
  /\ owner' = l
  /\ fence' = t

(* Released, expired, lost, handed off: other clients cannot tell.            *)
End(l) ==
  /\ l # None
  /\ owner = l
  /\ owner' = None
  /\ UNCHANGED fence

(* An extension succeeds, or the holder finds its lease valid.                *)
Valid(l) ==
  /\ owner = l
  /\ UNCHANGED vars
=============================================================================
