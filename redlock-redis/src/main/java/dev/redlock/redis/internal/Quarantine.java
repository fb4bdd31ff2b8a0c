package dev.redlock.redis.internal;

import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whether a node must not vote because it may have forgotten leases, and until when. Pure, as
 * {@link ConnectionStates}, which owns it.
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
 */
final class Quarantine {
  /** Longer than each guard time. */
  private static final long LONG_AGO_NANOS = Duration.ofDays(1).toNanos();

  /** A record that says more is wrong: no client may have longer leases. */
  private static final Duration LONGEST = Duration.ofHours(1);

  private static final String FLUSHED = "was flushed, or a proxy hid its restart";
  private static final String RESTARTED = "restarted: its run id changed";

  private final RestartGuard guard;
  private final Duration maxLeaseTime;

  /** For how long the node stays out after a loss of keys. */
  private long guardNanos;

  /** The last seen run of the server; null before the first, and without permission for INFO. */
  private @Nullable NodeIdentity identity;

  /** The last seen marker, of this connection or an earlier one; null before the first. */
  private Probe.@Nullable Marker marker;

  /** The current quarantine, possibly over. */
  private Hold hold;

  /** What {@link #hold} returns to if a flush turns out to be that of another data base. */
  private Hold holdBeforeFlush;

  /** Flushes after which the marker has not been read yet. */
  private int uncheckedFlushes;

  /**
   * A quarantine, which lasts until a guard time after the node may have lost its keys.
   *
   * @param sinceNanos its begin on the monotonic clock
   * @param lostNanos when the node may last have lost its keys
   * @param why the reason
   */
  private record Hold(long sinceNanos, long lostNanos, String why) {}

  Quarantine(RestartGuard guard, Duration maxLeaseTime, long nowNanos) {
    this.guard = guard;
    this.maxLeaseTime = maxLeaseTime;
    hold = new Hold(nowNanos, nowNanos - LONG_AGO_NANOS, "");
    holdBeforeFlush = hold;
    onRecord(null);
  }

  long sinceNanos() {
    return hold.sinceNanos;
  }

  long untilNanos() {
    return until(hold);
  }

  String why() {
    return hold.why;
  }

  private long until(Hold quarantine) {
    return quarantine.lostNanos + guardNanos;
  }

  private boolean lasts(Hold quarantine, long now) {
    return until(quarantine) - now > 0;
  }

  /** Time passed. Returns whether the node must stay out. */
  boolean onTick(long now) {
    return uncheckedFlushes > 0 || lasts(hold, now);
  }

  /** The node stays out from now on, for another reason if the quarantine is over. */
  void begin(long now) {
    if (!lasts(hold, now)) {
      hold = new Hold(now, hold.lostNanos, hold.why);
    }
  }

  /** The server stores this record: all clients count with the longest lease that may be valid. */
  void onRecord(@Nullable NodeRecord record) {
    Duration longest = maxLeaseTime;
    if (record != null && record.longestValid() > longest.toMillis()) {
      Duration recorded = Duration.ofMillis(record.longestValid());
      longest = recorded.compareTo(LONGEST) > 0 ? LONGEST : recorded;
    }
    guardNanos = RestartGuard.guardTime(longest).toNanos();
  }

  /** The connection ended. The probe of the next one reads the marker again. */
  void onLost() {
    uncheckedFlushes = 0;
    onRecord(null);
  }

  /**
   * The server was probed. The caller passes its marker to {@link #onMarkerSeen} next.
   *
   * @param newConnection whether it was not probed before on this connection
   * @param readOnly whether it has replied like a replica since the last probe
   */
  void onProbed(Probe probe, boolean newConnection, boolean readOnly, long now) {
    NodeIdentity seen = probe.identity();
    if (guard == RestartGuard.OFF) {
      holdNot(now);
    } else {
      if (seen != null) {
        checkRun(seen, probe, now);
      } else if (readOnly) {
        hold(now, now, "replied like a replica (READONLY) a moment ago");
      } else if (newConnection) {
        hold(
            now,
            now,
            "may have restarted: "
                + probe.unknownRun()
                + ", so each connection counts as a restart");
      }
      checkMarker(probe.marker(), newConnection, now);
    }
    if (seen != null) {
      identity = seen;
    }
  }

  private void checkRun(NodeIdentity seen, Probe probe, long now) {
    NodeIdentity before = identity;
    if (probe.clustered()
        && seen.promoted()
        && (before == null || before.replica() || !seen.runId().equals(before.runId()))) {
      // The replica has the keys of its former master, whatever its own age. docs/cluster.md says
      // which of them it may lack.
      holdNot(now);
    } else if (before == null) {
      Hold earlier = hold;
      meet(seen, probe.masterForMicros(), now);
      // The age of a server that was flushed says nothing about its keys.
      if (earlier.why.equals(FLUSHED) && earlier.lostNanos - hold.lostNanos > 0) {
        hold(earlier.sinceNanos, earlier.lostNanos, earlier.why);
      }
    } else if (!seen.runId().equals(before.runId())) {
      hold(now, now, RESTARTED);
    } else if (before.replica() && !seen.replica()) {
      hold(now, now, "was a replica a moment ago");
    } else if (seen.promoted()
        && !probe.clustered()
        && !seen.replicationId().equals(before.replicationId())) {
      hold(now, now, "was promoted from a replica since the last probe");
    }
  }

  /** The client sees this run of the server for the first time. */
  private void meet(NodeIdentity seen, long masterForMicros, long now) {
    boolean unknownAge = seen.uptimeSeconds() < 0;
    long started = now - ageNanos(seen.uptimeSeconds(), 1_000_000_000);
    long promoted = now - ageNanos(masterForMicros, 1_000);
    if (seen.promoted() && promoted - started > 0) {
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
                  + seen.uptimeSeconds()
                  + " s before this client first saw it: it may have forgotten locks (a node that is"
                  + " known to be new may vote at once without the restart guard)");
    }
  }

  private static long ageNanos(long age, long unitNanos) {
    return Math.min(Math.max(0, age), LONG_AGO_NANOS / unitNanos) * unitNanos;
  }

  private void checkMarker(Probe.@Nullable Marker seen, boolean newConnection, long now) {
    long known = markerSince();
    if (seen != null && known != 0 && seen.sinceMicros() != known) {
      // A server that restarts empty loses its marker too: the cause is the restart.
      boolean restarted = hold.sinceNanos == now && hold.why.equals(RESTARTED);
      String lost = "its marker changed: it was flushed or lost its data";
      hold(now, now, restarted ? RESTARTED : lost);
    }
    if (seen == null && known != 0 && newConnection) {
      // On a lasting connection the server reports a flush. A new marker needs a write. So a server
      // that refuses writes may have lost the marker that this client knew.
      hold(now, now, "its marker, known before, cannot be read: it may be flushed");
    }
    if (guard == RestartGuard.MARKER) {
      holdForAgeOf(seen, "its marker is too young", now);
    } else if (seen != null && known == 0 && seen.renewed()) {
      holdForAgeOf(seen, "was flushed or lost its data before this client connected", now);
    }
  }

  /** Extends the quarantine until the marker is old enough, unless it already lasts longer. */
  private void holdForAgeOf(Probe.@Nullable Marker seen, String why, long now) {
    long age = seen == null ? 0 : seen.nowMicros() - seen.sinceMicros();
    long lost = now - ageNanos(age, 1_000);
    if (lost - hold.lostNanos > 0) {
      hold(lasts(hold, now) ? hold.sinceNanos : now, lost, why);
    }
  }

  private void hold(long since, long lost, String why) {
    hold = new Hold(since, lost, why);
    holdBeforeFlush = hold;
  }

  private void holdNot(long now) {
    hold(now, now - LONG_AGO_NANOS, "");
  }

  /** This is the marker of the server from now on. */
  void onMarkerSeen(Probe.Marker seen) {
    marker = seen;
  }

  /** When the last seen marker was written, in microseconds of node time; 0 if none was seen. */
  long markerSince() {
    return marker == null ? 0 : marker.sinceMicros();
  }

  /** Whether the last seen marker says a version that the client does not speak. */
  boolean isForeign() {
    return marker != null && marker.isForeign();
  }

  /** The node may have been flushed. It stays out until its marker is read. */
  void onFlush(String why, long now) {
    if (uncheckedFlushes++ == 0) {
      holdBeforeFlush = hold;
    }
    hold = new Hold(now, now, why);
  }

  /** Whether a flush was seen after which the marker has not been read yet. */
  boolean isUnchecked() {
    return uncheckedFlushes > 0;
  }

  /**
   * The marker was read after a flush; null if it could not be read, which counts as deleted. The
   * caller passes it to {@link #onMarkerSeen} next.
   */
  void onMarkerRead(Probe.@Nullable Marker read) {
    long known = markerSince();
    boolean same = read != null && known != 0 && read.sinceMicros() == known;
    if (!same && guard != RestartGuard.OFF) {
      holdBeforeFlush = new Hold(hold.sinceNanos, hold.lostNanos, FLUSHED);
    }
    if (--uncheckedFlushes == 0) {
      hold = holdBeforeFlush;
    }
  }

  /** Whether the node must stay out for another reason than flushes that are not checked yet. */
  boolean lastsWithoutFlush(long now) {
    return lasts(holdBeforeFlush, now);
  }
}
