package dev.redlock.cluster.internal;

import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Computes the state of the cluster from the states of its masters. The cluster votes while any
 * master votes. It is quarantined while some masters are usable and none votes. It is connecting
 * while no master is usable. After the first master becomes usable, the others get one second
 * before the cluster takes part in rounds: otherwise a client that has just started would find most
 * names refused. Pure; confined to the lock of {@link Shares}.
 */
final class ClusterStatus {
  /** How long the first connected masters wait for the others. */
  static final Duration GRACE = Duration.ofSeconds(1);

  /** A master and the state of its connection. */
  record Part(String name, NodeStatus status) {}

  private boolean someUsable;
  private long firstUsableNanos;

  /** Whether the grace period has begun, so that the status must be checked again when it ends. */
  boolean waitsForOthers() {
    return someUsable;
  }

  /**
   * The new state.
   *
   * @param before the state so far
   * @param objection why the cluster must not vote; null if it may
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

  /**
   * Merges quarantines: since the latest begin, so that all masters have been quarantined for that
   * long; until the earliest end.
   */
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
