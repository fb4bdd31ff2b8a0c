package dev.redlock.cluster.internal;

import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the states of the masters make of the cluster as a whole. It votes while any of them does,
 * is quarantined while some can be used and none votes, and is connecting while none can be used.
 * When the first can be used, the others get a little time before the whole is given to rounds: a
 * client that starts should not find most names refused. Pure; confined to the cluster's lock.
 */
final class WholeStatus {
  /** How long the first masters that are connected wait for the others. */
  static final Duration GRACE = Duration.ofSeconds(1);

  /** A master and the state of its connection. */
  record Part(String name, NodeStatus status) {}

  private boolean someUsable;
  private long firstUsableNanos;

  /** Whether the time of grace has begun, so that somebody has to look again when it is over. */
  boolean waitsForOthers() {
    return someUsable;
  }

  /**
   * The new state.
   *
   * @param before the state so far
   * @param objection why the cluster must not vote at all; null if it may
   * @param number the connection number from now on
   */
  NodeStatus next(
      NodeStatus before,
      List<Part> masters,
      @Nullable String objection,
      long number,
      long nowNanos) {
    int usable = 0;
    boolean votes = false;
    String unusable = before.cause();
    NodeStatus quarantine = null;
    for (Part master : masters) {
      NodeStatus its = master.status();
      if (!its.usable()) {
        unusable = "master " + master.name() + ": " + its.cause();
        continue;
      }
      usable++;
      votes |= its.state() == State.VOTING;
      if (its.state() == State.QUARANTINED) {
        quarantine = together(quarantine, master, number);
      }
    }
    if (usable == 0) {
      someUsable = false;
      return same(before, State.CONNECTING, number, nowNanos, unusable);
    }
    if (!someUsable) {
      someUsable = true;
      firstUsableNanos = nowNanos;
    }
    boolean ready = usable == masters.size() || nowNanos - firstUsableNanos >= GRACE.toNanos();
    if (!before.usable() && !ready) {
      String soFar = usable + " of " + masters.size() + " masters so far";
      return same(before, State.PROBING, number, nowNanos, soFar);
    }
    if (objection != null) {
      return same(before, State.QUARANTINED, number, nowNanos, objection);
    }
    return votes || quarantine == null
        ? same(before, State.VOTING, number, nowNanos, "")
        : quarantine;
  }

  /** Held since the last of them was, so that all have been held as long; until the first ends. */
  private static NodeStatus together(@Nullable NodeStatus known, Part master, long number) {
    NodeStatus its = master.status();
    long since = its.sinceNanos();
    long until = its.untilNanos();
    if (known != null) {
      since = since - known.sinceNanos() > 0 ? since : known.sinceNanos();
      if (until == 0 || (known.untilNanos() != 0 && known.untilNanos() - until < 0)) {
        until = known.untilNanos();
      }
    }
    String cause = "master " + master.name() + ": " + its.cause();
    return new NodeStatus(State.QUARANTINED, number, since, until, cause);
  }

  private static NodeStatus same(
      NodeStatus before, State state, long number, long nowNanos, String cause) {
    long since = before.state() == state ? before.sinceNanos() : nowNanos;
    return new NodeStatus(state, number, since, 0, cause);
  }
}
