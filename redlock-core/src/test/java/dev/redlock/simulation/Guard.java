package dev.redlock.simulation;

import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;

/**
 * How a client judges one node: the restart guard of the adapter, as design section 7 has it. A
 * flush that was seen counts as a restart.
 */
final class Guard {
  private final boolean off;
  private final long guardNanos;
  private State state = State.CONNECTING;
  private long connection = 1;
  private long stateSince;
  private String runId;
  private long heldSince;
  private long heldUntil;

  Guard(boolean off, long guardNanos, long now) {
    this.off = off;
    this.guardNanos = guardNanos;
    stateSince = now;
  }

  NodeStatus status() {
    return state == State.QUARANTINED
        ? new NodeStatus(state, connection, heldSince, heldUntil, "simulated")
        : new NodeStatus(state, connection, stateSince, 0, "simulated");
  }

  void onConnected(long now) {
    enter(State.PROBING, now);
  }

  void onLost(long now) {
    connection++;
    enter(State.CONNECTING, now);
  }

  void onProbed(String run, long uptimeSeconds, long now) {
    if (off) {
      heldUntil = now;
    } else if (runId == null) {
      heldSince = now;
      heldUntil = now + Math.max(0, guardNanos - uptimeSeconds * Scenario.SECOND);
    } else if (!runId.equals(run)) {
      heldSince = now;
      heldUntil = now + guardNanos;
    }
    runId = run;
    settle(now);
  }

  void onFlush(long now) {
    if (state != State.QUARANTINED && state != State.VOTING) {
      return;
    }
    connection++;
    if (!off) {
      heldSince = now;
      heldUntil = now + guardNanos;
      settle(now);
    }
  }

  void onTick(long now) {
    if (state == State.QUARANTINED) {
      settle(now);
    }
  }

  private void settle(long now) {
    enter(heldUntil - now > 0 ? State.QUARANTINED : State.VOTING, now);
  }

  private void enter(State next, long now) {
    if (state != next) {
      state = next;
      stateSince = now;
    }
  }
}
