package dev.redlock.lettuce.internal;

import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where one node's connection stands, and whether the node may vote. Pure: events and the time come
 * in, {@link #status()} comes out. Confined to its owner's lock.
 *
 * <p>A Redis that restarted without its keys, or was flushed, would grant a lock that another node
 * quorum still remembers, so it must stay out until every lease it may have forgotten has run out.
 * What it may have forgotten is told by three things, each of which fails in a way the others do
 * not: the uptime (counted by the node's wall clock, in whole seconds, and old for a master that
 * was promoted behind the same address), the run id (known only to a client that was here before),
 * and the marker key (gone after a flush, but also absent when a node is used for the first time).
 * Where the uptime is not to be believed, the whole time is counted on our own monotonic clock.
 *
 * <p>What is remembered survives reconnects: a run of the server that we have held in quarantine
 * for a while does not begin anew because the connection broke.
 */
public final class ConnectionStates {
  private static final Duration SHORTEST_GUARD = Duration.ofSeconds(5);

  /** INFO counts whole seconds, and two of them cover rounding at both ends. */
  private static final Duration ROUNDING = Duration.ofSeconds(2);

  /** After so much silence the node is asked for a sign of life. */
  private static final long SILENCE_NANOS = 2_000_000_000L;

  /** After so much silence with something unanswered the connection is given up. */
  public static final long DEAD_NANOS = 5_000_000_000L;

  private final RestartGuard guard;
  private final long maxLeaseMillis;
  private final long guardNanos;

  private State state = State.CONNECTING;
  private long connection = 1;
  private long stateSince;
  private String cause = "not connected yet";

  /** The run of the server that was last seen, null before the first or where INFO is refused. */
  private @Nullable String runId;

  private boolean wasReplica;

  /** When the marker was set, as last seen; 0 if never seen. */
  private long markerSince;

  /** Since when this run (or what a flush left of it) has been held back, and until when. */
  private long heldSince;

  private long heldUntil;
  private String heldFor = "";

  /** Kept back for another reason than age, and so without an end. */
  private @Nullable String refusal;

  /** Flushes seen whose effect on the marker has not been looked at yet. */
  private int looks;

  private long savedSince;
  private long savedUntil;
  private String savedFor = "";

  /** What it calls for that nothing is heard. */
  public enum Silence {
    /** Nothing: it is not long yet, or nothing was asked. */
    BEAR,
    /** A question that every server answers at once. */
    ASK,
    /** To give the connection up. */
    GIVE_UP
  }

  /**
   * Judges the silence on a connection.
   *
   * @param silentNanos the time since the last byte came
   * @param unanswered whether anything was asked that has not been answered
   */
  public static Silence judge(long silentNanos, boolean unanswered) {
    if (unanswered) {
      return silentNanos > DEAD_NANOS ? Silence.GIVE_UP : Silence.BEAR;
    }
    return silentNanos > SILENCE_NANOS ? Silence.ASK : Silence.BEAR;
  }

  public ConnectionStates(RestartGuard guard, Duration maxLeaseTime, long nowNanos) {
    this.guard = guard;
    this.maxLeaseMillis = maxLeaseTime.toMillis();
    Duration least = maxLeaseTime.compareTo(SHORTEST_GUARD) < 0 ? SHORTEST_GUARD : maxLeaseTime;
    this.guardNanos = least.plus(ROUNDING).toNanos();
    this.stateSince = nowNanos;
  }

  /** The newest state. */
  public NodeStatus status() {
    return switch (state) {
      case QUARANTINED ->
          new NodeStatus(
              state,
              connection,
              heldSince,
              refusal == null ? heldUntil : 0,
              refusal == null ? heldFor : refusal);
      case CONNECTING, PROBING, VOTING -> new NodeStatus(state, connection, stateSince, 0, cause);
    };
  }

  /**
   * Whether the node is kept back for a reason that time does not heal, so look again now and then.
   */
  public boolean refused() {
    return state == State.QUARANTINED && refusal != null;
  }

  /** A connection was made. */
  public void onConnected(long now) {
    enter(State.PROBING, "connected, being looked at", now);
  }

  /** The connection broke, or could not be made. Earlier answers no longer count. */
  public void onLost(String why, long now) {
    if (state != State.CONNECTING) {
      connection++;
      looks = 0;
      refusal = null;
      enter(State.CONNECTING, why, now);
    } else {
      cause = why;
    }
  }

  /** The server was looked at, on a new connection or once more on the same one. */
  public void onProbed(Probe probe, long now) {
    onProbed(probe, null, now);
  }

  /**
   * The server was looked at.
   *
   * @param objection why it may not vote although it is a master of the right age; null if it may
   */
  public void onProbed(Probe probe, @Nullable String objection, long now) {
    NodeIdentity identity = probe.identity();
    Probe.Marker marker = probe.marker();
    if (guard == RestartGuard.OFF) {
      hold(now, now, "");
    } else if (identity == null) {
      if (state == State.PROBING) {
        hold(
            now,
            now + guardNanos,
            "may have restarted: this user has no permission for INFO, so every connection counts"
                + " as a restart");
      }
    } else if (probe.promoted() && (wasReplica || !identity.runId().equals(runId))) {
      // It took the keys over from the master that it followed; what that costs is told in the
      // documentation of clusters, and its own age says nothing about it.
      hold(now, now, "");
    } else if (runId == null) {
      long uptime = identity.uptimeSeconds() * 1_000_000_000L;
      hold(
          now,
          now + Math.max(0, guardNanos - uptime),
          "restarted " + identity.uptimeSeconds() + " s before it was first seen");
    } else if (!runId.equals(identity.runId())) {
      hold(now, now + guardNanos, "another run of the server than the one last seen");
    } else if (wasReplica && !identity.replica()) {
      hold(now, now + guardNanos, "was a replica a moment ago");
    }
    if (guard != RestartGuard.OFF) {
      lookAtMarker(marker, now);
    }
    if (identity != null) {
      runId = identity.runId();
      wasReplica = identity.replica();
    }
    if (marker != null) {
      markerSince = marker.sinceMicros();
    }
    refusal = objection != null ? objection : refusalOf(identity, marker);
    settle(now);
  }

  private void lookAtMarker(Probe.@Nullable Marker marker, long now) {
    if (marker != null && markerSince != 0 && marker.sinceMicros() != markerSince) {
      hold(now, now + guardNanos, "its marker is a new one: it was flushed or lost its data");
    }
    if (guard == RestartGuard.MARKER) {
      long remaining = guardNanos;
      if (marker != null) {
        long age = (marker.nowMicros() - marker.sinceMicros()) * 1_000;
        remaining = age < 0 ? guardNanos : Math.max(0, guardNanos - age);
      }
      if (now + remaining - heldUntil > 0) {
        hold(heldUntil - now > 0 ? heldSince : now, now + remaining, "its marker is too young");
      }
    }
  }

  private @Nullable String refusalOf(
      @Nullable NodeIdentity identity, Probe.@Nullable Marker marker) {
    if (identity != null && identity.replica()) {
      return "is a replica (role:" + identity.role() + "): only masters may vote";
    }
    if (marker != null && marker.maxLeaseMillis() != maxLeaseMillis) {
      return "is used with maxLeaseTime "
          + marker.maxLeaseMillis()
          + " ms"
          + " by others, and "
          + maxLeaseMillis
          + " ms"
          + " by this client: it must be one value for all";
    }
    if (guard == RestartGuard.MARKER && marker == null) {
      return "its marker can be neither read nor set, which RestartGuard.MARKER needs";
    }
    return null;
  }

  /**
   * The node says that a data base was flushed. From here on earlier answers no longer count; the
   * caller looks for the marker, which tells whether it was ours.
   */
  public void onFlush(long now) {
    if (state != State.QUARANTINED && state != State.VOTING) {
      return;
    }
    connection++;
    if (guard == RestartGuard.OFF) {
      return;
    }
    if (looks++ == 0) {
      savedSince = heldSince;
      savedUntil = heldUntil;
      savedFor = heldFor;
    }
    hold(now, now + guardNanos, "a flush was seen");
    settle(now);
  }

  /**
   * The marker was looked for after a flush. Another client may have been faster to set a new one,
   * so what counts is whether it is still the same.
   *
   * @param marker null if it could not be read, which counts as gone
   */
  public void onMarker(Probe.@Nullable Marker marker, long now) {
    if (looks == 0) {
      return;
    }
    boolean same = marker != null && markerSince != 0 && marker.sinceMicros() == markerSince;
    if (!same) {
      savedSince = heldSince;
      savedUntil = heldUntil;
      savedFor = "was flushed";
    }
    if (marker != null) {
      markerSince = marker.sinceMicros();
    }
    if (--looks == 0) {
      hold(savedSince, savedUntil, savedFor);
      settle(now);
    }
  }

  /** Time has passed. */
  public void onTick(long now) {
    if (state == State.QUARANTINED) {
      settle(now);
    }
  }

  private void hold(long since, long until, String why) {
    heldSince = since;
    heldUntil = until;
    heldFor = why;
  }

  private void settle(long now) {
    boolean held = refusal != null || looks > 0 || heldUntil - now > 0;
    if (held && state != State.QUARANTINED) {
      if (heldUntil - now <= 0) {
        heldSince = now;
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
