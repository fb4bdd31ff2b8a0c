package dev.redlock.internal;

import dev.redlock.LeaseEnd;
import dev.redlock.RedlockListener.HandOff;
import dev.redlock.internal.protocol.Effect;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.internal.protocol.WakeUp;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Derives the events of one lock from the effects of its machine, so that the protocol needs no
 * code for them. Exists only if the client has a listener. Confined to the actor of the lock.
 */
final class LockEvents {
  private final Events events;
  private final LockKeys keys;

  /** Whether a lease was handed off, and its successor is not granted yet. */
  private boolean handedOff;

  /** Whether a node refused the waiter because another client holds the lock or comes first. */
  private boolean heldElsewhere;

  /** Whether a hint woke the waiter, and the result of its attempt is not known yet. */
  private boolean hinted;

  LockEvents(Events events, LockKeys keys) {
    this.events = events;
    this.keys = keys;
  }

  void onReply(LockRequest request, NodeReply reply, LockMachine machine) {
    boolean refusal = reply.code() == Code.HELD || reply.code() == Code.QUEUED;
    if (refusal && !(request instanceof LockRequest.Inspect) && machine.lease() == null) {
      heldElsewhere |= machine.waiting() > 0;
    }
  }

  /** Called before the effect is carried out. */
  void before(Effect effect, @Nullable LeaseCore held) {
    if (effect instanceof Effect.Granted) {
      granted();
    } else if (effect instanceof Effect.End end) {
      handedOff = end.end() == LeaseEnd.HANDED_OFF;
    } else if (effect instanceof Effect.Woken woken) {
      hintWas(false); // The attempt after the previous hint was refused.
      hinted = woken.cause() == WakeUp.HINT;
      events.tellProbes(p -> p.onWakeUp(keys.names(), woken.cause()));
    } else if (effect instanceof Effect.Attempted attempted) {
      events.tellProbes(p -> p.onRound(keys.names(), attempted.homeOnly()));
    } else if (held != null && effect instanceof Effect.Extended extended) {
      events.tell(l -> l.onExtended(new DefaultLease(held), extended.repaired()));
    } else if (held != null && effect instanceof Effect.ExtendFailed failed) {
      Duration remaining = Duration.ofNanos(failed.remainingNanos());
      events.tell(l -> l.onExtendFailed(new DefaultLease(held), remaining));
    }
  }

  private void granted() {
    if (handedOff || heldElsewhere) {
      HandOff kind = handedOff ? HandOff.LOCAL : HandOff.PROCESS;
      events.tell(l -> l.onHandOff(keys.names(), kind));
    }
    hintWas(true);
    handedOff = false;
    heldElsewhere = false;
  }

  /** Called after each event of the actor, with the number of callers that wait. */
  void after(int waiting) {
    if (waiting == 0) {
      hintWas(false);
      heldElsewhere = false;
    }
  }

  private void hintWas(boolean useful) {
    if (hinted) {
      hinted = false;
      events.tell(l -> l.onHint(keys.names(), useful));
    }
  }
}
