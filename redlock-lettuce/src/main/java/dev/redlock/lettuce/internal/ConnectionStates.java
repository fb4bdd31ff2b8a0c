package dev.redlock.lettuce.internal;

import dev.redlock.lettuce.internal.scripts.Wire;
import dev.redlock.lettuce.internal.scripts.Wires;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The state of one node's connection, and whether the node may vote. Pure: events and the time are
 * arguments, {@link #status()} is the result. Guarded by its owner.
 *
 * <p>The problem: a Redis that restarted without its keys, or was flushed, would grant a lock that
 * another quorum still holds. So it must not vote until every lease that it may have forgotten has
 * expired. Four signs show what it may have forgotten, and each of them fails in its own way:
 *
 * <ul>
 *   <li>The uptime. The node counts it in whole seconds of its wall clock, and a promoted master at
 *       the same address has an old one. Where it is no proof, the client counts the whole time on
 *       its own monotonic clock.
 *   <li>The run id. Only a client that was connected before knows the earlier one.
 *   <li>The second replication id. A promoted replica keeps it, but it does not show the time of
 *       the promotion.
 *   <li>The marker key. A flush deletes it, but a node that is used for the first time has none
 *       either.
 * </ul>
 *
 * <p>Clients write into the marker what a new client cannot see. First, the node time at which a
 * client first saw the master's current replication id; it proves how old a promotion is. Second,
 * that a client knew an earlier marker; it proves a flush. A marker that is only young proves
 * nothing: on a server with a long uptime it is usually the first one of a new deployment, and a
 * quarantine would delay each first start by the longest lease time.
 *
 * <p>The knowledge survives reconnects: the quarantine of one run of the server does not begin
 * again with a new connection.
 *
 * <p>The marker also holds the {@linkplain NodeRecord record} of the set of nodes. A vote counts
 * only with the record that the node had when it voted. The client learns of a change before it
 * gets the reply to any later request: by the reply to its own change, or by the invalidation of
 * the marker. At that moment the connection number rises, so no earlier reply counts with the new
 * record. From the invalidation until the marker is read the node does not vote.
 *
 * <p>The marker also says the {@linkplain Wire version} of keys and scripts. If that is switched,
 * the keys stay, but scripts of the new version may not understand them. So a switch is like a loss
 * of keys: the node stays out until each lease that scripts of the former version may have granted
 * has expired. Nothing is converted.
 */
public final class ConnectionStates {
  /** Longer than each guard time. */
  private static final long LONG_AGO_NANOS = Duration.ofDays(1).toNanos();

  /** A record that says more is wrong: no client may have longer leases. */
  private static final Duration LONGEST = Duration.ofHours(1);

  private static final String FLUSHED = "was flushed, or a proxy hid its restart";
  private static final String RESTARTED = "restarted: its run id changed";
  private static final String READ_ONLY =
      "replied like a replica (READONLY): only masters may vote";

  private final RestartGuard guard;
  private final boolean keepsRecords;
  private final Duration maxLeaseTime;
  private final Wires wires;

  private State state = State.CONNECTING;
  private long connection = 1;
  private long stateSince;
  private String cause = "still connecting for the first time";

  /** The last seen run of the server; null before the first, and without permission for INFO. */
  private @Nullable String runId;

  private boolean wasReplica;

  /** The last seen replication id; empty before the first. */
  private String replicationId = "";

  /** When the last seen marker was written, in microseconds of node time; 0 if none was seen. */
  private long markerSince;

  /**
   * What the server stores about the set of nodes, as this connection number knows it. Null if it
   * refused to let a probe read it: then it counts as a server that keeps none.
   */
  private @Nullable NodeRecord record = NodeRecord.NONE;

  /** Whether the last try to read the marker failed. */
  private boolean markerUnread;

  /** The current quarantine, possibly over. */
  private Hold hold;

  /** What {@link #hold} returns to if a flush turns out to be that of another data base. */
  private Hold holdBeforeFlush;

  /** The quarantine after the last switch of the version; null if it is over. */
  private @Nullable Hold switched;

  /** The version that the marker said last; 0 if none was seen. */
  private long wire;

  /** When the marker got it by a switch, in microseconds of node time; 0 if it did not. */
  private long wireSince;

  /** Flushes after which the marker has not been read yet. */
  private int uncheckedFlushes;

  /** A reason to stay out other than age, which does not end by itself; null if there is none. */
  private @Nullable String refusal;

  /** The error with which the server replies to every request; null if there is none. */
  private @Nullable String erring;

  /**
   * A quarantine, which lasts until a guard time after the node may have lost its keys.
   *
   * @param sinceNanos its begin on the monotonic clock
   * @param lostNanos when the node may last have lost its keys
   * @param why the reason
   */
  private record Hold(long sinceNanos, long lostNanos, String why) {}

  /**
   * The states of a connection that is not there yet.
   *
   * @param keepsRecords whether the server keeps a record of the set of nodes
   */
  public ConnectionStates(
      RestartGuard guard, Duration maxLeaseTime, boolean keepsRecords, long nowNanos) {
    this(guard, maxLeaseTime, keepsRecords, Wires.SHIPPED, nowNanos);
  }

  /**
   * The same of a client that speaks these versions.
   *
   * @param keepsRecords whether the server keeps a record of the set of nodes
   */
  ConnectionStates(
      RestartGuard guard, Duration maxLeaseTime, boolean keepsRecords, Wires wires, long nowNanos) {
    this.guard = guard;
    this.keepsRecords = keepsRecords;
    this.maxLeaseTime = maxLeaseTime;
    this.wires = wires;
    this.stateSince = nowNanos;
    hold = new Hold(nowNanos, nowNanos - LONG_AGO_NANOS, "");
    holdBeforeFlush = hold;
  }

  /** The current status. */
  public NodeStatus status() {
    Hold last = last();
    return switch (state) {
      case QUARANTINED ->
          new NodeStatus(
              state,
              connection,
              last.sinceNanos,
              refusal == null ? until(last) : 0,
              refusal == null ? last.why : refusal,
              erring != null,
              known());
      case CONNECTING, PROBING ->
          new NodeStatus(state, connection, stateSince, 0, cause, false, known());
      case VOTING -> {
        String error = erring;
        yield new NodeStatus(
            state,
            connection,
            stateSince,
            0,
            error == null ? cause : error,
            error != null,
            known());
      }
    };
  }

  private @Nullable NodeRecord known() {
    return keepsRecords ? record : null;
  }

  /** The quarantine that ends last. */
  private Hold last() {
    Hold other = switched;
    return other != null && until(other) - until(hold) > 0 ? other : hold;
  }

  /** When the quarantine ends: all clients count with the longest lease that may be valid. */
  private long until(Hold quarantine) {
    NodeRecord known = record;
    Duration longest = maxLeaseTime;
    if (known != null && known.longestValid() > longest.toMillis()) {
      Duration recorded = Duration.ofMillis(known.longestValid());
      longest = recorded.compareTo(LONGEST) > 0 ? LONGEST : recorded;
    }
    return quarantine.lostNanos + RestartGuard.guardTime(longest).toNanos();
  }

  private boolean lasts(Hold quarantine, long now) {
    return until(quarantine) - now > 0;
  }

  /**
   * Whether the node is kept out for a reason that does not end by itself, or its marker could not
   * be read; a probe may end it.
   */
  public boolean refused() {
    return (state == State.QUARANTINED && refusal != null)
        || (keepsRecords && markerUnread && isUsable());
  }

  private boolean isUsable() {
    return state == State.QUARANTINED || state == State.VOTING;
  }

  /** A connection was established. */
  public void onConnected(long now) {
    enter(State.PROBING, "still connecting: the client is probing the server", now);
  }

  /** The connection ended or failed. Earlier replies no longer count. */
  public void onLost(String why, long now) {
    if (state != State.CONNECTING) {
      connection++;
      uncheckedFlushes = 0;
      refusal = null;
      erring = null;
      record = NodeRecord.NONE;
      markerUnread = false;
      enter(State.CONNECTING, why, now);
    } else {
      cause = why;
    }
  }

  /** When the last seen marker was written, in microseconds of node time; 0 if none was seen. */
  public long markerSince() {
    return markerSince;
  }

  /** The server was probed, on a new connection or again on the same one. */
  public void onProbed(Probe probe, long now) {
    onProbed(probe, null, now);
  }

  /**
   * The server was probed.
   *
   * @param objection why it must not vote although it is a master that is old enough; or null
   */
  public void onProbed(Probe probe, @Nullable String objection, long now) {
    NodeIdentity identity = probe.identity();
    Probe.Marker marker = probe.marker();
    if (guard == RestartGuard.OFF) {
      holdNot(now);
    } else if (identity == null) {
      if (READ_ONLY.equals(refusal)) {
        hold(now, now, "replied like a replica (READONLY) a moment ago");
      } else if (state == State.PROBING) {
        hold(
            now,
            now,
            "may have restarted: "
                + probe.unknownRun()
                + ", so each connection counts as a restart");
      }
    } else if (probe.clustered()
        && identity.promoted()
        && (wasReplica || !identity.runId().equals(runId))) {
      // The replica has the keys of its former master, whatever its own age. docs/cluster.md says
      // which of them it may lack.
      holdNot(now);
    } else if (runId == null) {
      Hold before = hold;
      meet(identity, probe.masterForMicros(), now);
      // The age of a server that was flushed says nothing about its keys.
      if (before.why.equals(FLUSHED) && before.lostNanos - hold.lostNanos > 0) {
        hold(before.sinceNanos, before.lostNanos, before.why);
      }
    } else if (!runId.equals(identity.runId())) {
      hold(now, now, RESTARTED);
    } else if (wasReplica && !identity.replica()) {
      hold(now, now, "was a replica a moment ago");
    } else if (identity.promoted()
        && !probe.clustered()
        && !identity.replicationId().equals(replicationId)) {
      hold(now, now, "was promoted from a replica since the last probe");
    }
    if (guard != RestartGuard.OFF) {
      checkMarker(marker, now);
    }
    if (identity != null) {
      runId = identity.runId();
      wasReplica = identity.replica();
      replicationId = identity.replicationId();
    }
    onRead(marker, null, now);
    refusal = objection != null ? objection : refusalOf(identity, marker);
    settle(now);
  }

  /** The client sees this run of the server for the first time. */
  private void meet(NodeIdentity identity, long masterForMicros, long now) {
    boolean unknownAge = identity.uptimeSeconds() < 0;
    long started = now - ageNanos(identity.uptimeSeconds(), 1_000_000_000);
    long promoted = now - ageNanos(masterForMicros, 1_000);
    if (identity.promoted() && promoted - started > 0) {
      hold(
          now,
          promoted,
          "was promoted from a replica and has been known as a master for only "
              + masterForMicros / 1_000_000
              + " s");
    } else {
      hold(
          now,
          started,
          unknownAge
              ? "may have restarted just before this client first saw it: the server reports no"
                  + " uptime_in_seconds in INFO"
              : "started "
                  + identity.uptimeSeconds()
                  + " s before this client first saw it: it may have forgotten locks (a node that is"
                  + " known to be new may vote at once without the restart guard)");
    }
  }

  private static long ageNanos(long age, long unitNanos) {
    return Math.min(Math.max(0, age), LONG_AGO_NANOS / unitNanos) * unitNanos;
  }

  private void checkMarker(Probe.@Nullable Marker marker, long now) {
    if (marker != null && markerSince != 0 && marker.sinceMicros() != markerSince) {
      // A server that restarts empty loses its marker too: the cause is the restart.
      boolean restarted = hold.sinceNanos == now && hold.why.equals(RESTARTED);
      String lost = "its marker changed: it was flushed or lost its data";
      hold(now, now, restarted ? RESTARTED : lost);
    }
    if (marker == null && markerSince != 0 && state == State.PROBING) {
      // On a lasting connection the server reports a flush. A new marker needs a write. So a server
      // that refuses writes may have lost the marker that this client knew.
      hold(now, now, "its marker, known before, cannot be read: it may be flushed");
    }
    if (guard == RestartGuard.MARKER) {
      holdForAgeOf(marker, "its marker is too young", now);
    } else if (marker != null && markerSince == 0 && marker.renewed()) {
      holdForAgeOf(marker, "was flushed or lost its data before this client connected", now);
    }
  }

  /** Extends the quarantine until the marker is old enough, unless it already lasts longer. */
  private void holdForAgeOf(Probe.@Nullable Marker marker, String why, long now) {
    long age = marker == null ? 0 : marker.nowMicros() - marker.sinceMicros();
    long lost = now - ageNanos(age, 1_000);
    if (lost - hold.lostNanos > 0) {
      hold(lasts(hold, now) ? hold.sinceNanos : now, lost, why);
    }
  }

  /**
   * The marker was read, or could not be read.
   *
   * @param otherwise the record if it could not
   */
  private void onRead(Probe.@Nullable Marker marker, @Nullable NodeRecord otherwise, long now) {
    markerUnread = marker == null;
    keep(marker == null ? otherwise : marker.record());
    if (marker != null) {
      markerSince = marker.sinceMicros();
      checkWire(marker, now);
    }
  }

  private void checkWire(Probe.Marker marker, long now) {
    long before = wire;
    boolean changed = marker.wire() != before || marker.wireSinceMicros() != wireSince;
    wire = marker.wire();
    wireSince = marker.wireSinceMicros();
    if (!changed || (before == 0 && wireSince == 0)) {
      return;
    }
    long age = before == 0 ? marker.nowMicros() - wireSince : 0;
    switched =
        new Hold(
            now,
            now - ageNanos(age, 1_000),
            "was switched to wire version "
                + wire
                + ": leases that scripts of another version granted may be valid");
    if (isUsable()) {
      connection++;
    }
  }

  /** The version that the server has; the first one before it was seen, null if unknown. */
  @Nullable Wire wire() {
    return wire == 0 ? wires.all().get(0) : wires.of(wire);
  }

  /**
   * The server replied to a change of its record.
   *
   * @param stored the record that it has now
   */
  public void onRecord(NodeRecord stored, long now) {
    keep(stored);
    if (isUsable()) {
      settle(now);
    }
  }

  private void keep(@Nullable NodeRecord stored) {
    if (keepsRecords) {
      if (isUsable() && !countVotesAlike(record, stored)) {
        connection++;
      }
      record = stored;
    }
  }

  /** The promises to operators have no effect on votes. */
  private static boolean countVotesAlike(@Nullable NodeRecord one, @Nullable NodeRecord other) {
    if (one == null || other == null) {
      return one == null && other == null;
    }
    return one.isOfSameSet(other)
        && one.floor() == other.floor()
        && one.before().equals(other.before())
        && one.name().equals(other.name())
        && one.sinceMicros() == other.sinceMicros();
  }

  private @Nullable String refusalOf(
      @Nullable NodeIdentity identity, Probe.@Nullable Marker marker) {
    if (identity != null && identity.replica()) {
      return "is a replica (role:" + identity.role() + "): only masters may vote";
    }
    if (marker != null && wires.of(marker.wire()) == null) {
      return wireRefusal(marker);
    }
    if (guard == RestartGuard.MARKER && marker == null) {
      return "its marker can be neither read nor written, as RestartGuard.MARKER requires";
    }
    return null;
  }

  private String wireRefusal(Probe.Marker marker) {
    return "its marker says wire version "
        + marker.wire()
        + ", and this client speaks "
        + wires
        + ": update this client";
  }

  /**
   * The node replied to a write as only a replica does. It must not vote until the caller has
   * probed it again. Returns whether this changed the state.
   */
  public boolean onReadOnly(long now) {
    if (refusal != null || !isUsable()) {
      return false;
    }
    refusal = READ_ONLY;
    settle(now);
    return true;
  }

  /**
   * The node reported that a data base was flushed. Earlier replies no longer count. The caller
   * reads the marker, which shows whether the data base of the locks was flushed.
   */
  public void onFlush(long now) {
    readAgain("a flush was seen", now);
  }

  /**
   * The node reported that its marker was written or deleted. Handled as a flush is: earlier
   * replies no longer count, and the caller reads the marker.
   */
  public void onMarkerInvalidated(long now) {
    readAgain("its marker changed and is read again", now);
  }

  private void readAgain(String why, long now) {
    if (!isUsable()) {
      return;
    }
    connection++;
    if (guard == RestartGuard.OFF && !keepsRecords) {
      return;
    }
    if (uncheckedFlushes++ == 0) {
      holdBeforeFlush = hold;
    }
    hold = new Hold(now, now, why);
    settle(now);
  }

  /**
   * The marker was read after a flush, or after it changed. Another client may have written a new
   * one already, so the keys are still there only if the marker is still the same.
   *
   * @param marker null if it could not be read, which counts as deleted
   * @param error why it could not be read; null if it was
   */
  public void onMarker(Probe.@Nullable Marker marker, @Nullable String error, long now) {
    if (uncheckedFlushes == 0) {
      return;
    }
    boolean same = marker != null && markerSince != 0 && marker.sinceMicros() == markerSince;
    if (!same && guard != RestartGuard.OFF) {
      holdBeforeFlush = new Hold(hold.sinceNanos, hold.lostNanos, FLUSHED);
    }
    onRead(marker, NodeRecord.NONE, now);
    if (marker != null && wires.of(marker.wire()) == null) {
      refusal = wireRefusal(marker);
    } else if (error != null && keepsRecords && !lasts(holdBeforeFlush, now)) {
      refusal = "its marker cannot be read: " + error; // Until the next probe.
    }
    if (--uncheckedFlushes == 0) {
      hold = holdBeforeFlush;
      settle(now);
    }
  }

  /**
   * A trial showed that the server replies with errors, or (null) that it executes requests. It
   * keeps its keys in both cases, so earlier replies still count.
   */
  public void onTrial(@Nullable String error) {
    if (isUsable()) {
      erring = error;
    }
  }

  /** Time passed. */
  public void onTick(long now) {
    if (state == State.QUARANTINED) {
      settle(now);
    }
  }

  private void hold(long since, long lost, String why) {
    hold = new Hold(since, lost, why);
    holdBeforeFlush = hold;
  }

  private void holdNot(long now) {
    hold(now, now - LONG_AGO_NANOS, "");
  }

  private void settle(long now) {
    Hold other = switched;
    if (other != null && !lasts(other, now)) {
      switched = null;
    }
    boolean held = refusal != null || uncheckedFlushes > 0 || lasts(last(), now);
    if (held && state != State.QUARANTINED) {
      if (!lasts(hold, now)) {
        hold = new Hold(now, hold.lostNanos, hold.why);
      }
      enter(State.QUARANTINED, "", now);
    } else if (!held && state != State.VOTING) {
      enter(State.VOTING, "", now);
    }
  }

  private void enter(State next, String why, long now) {
    if (state != next) {
      state = next;
      stateSince = now;
    }
    cause = why;
  }
}
