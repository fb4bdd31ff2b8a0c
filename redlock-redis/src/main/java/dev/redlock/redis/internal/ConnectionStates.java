package dev.redlock.redis.internal;

import dev.redlock.redis.internal.scripts.Wire;
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
 * <p>{@link Quarantine} says whether the node may have forgotten leases. This class adds what else
 * keeps a node from voting: no connection, a role other than master, an objection of the client, a
 * version that the client does not speak, a marker that cannot be read.
 *
 * <p>The marker holds the {@linkplain NodeRecord record} of the set of nodes. A vote counts only
 * with the record that the node had when it voted. The client learns of a change before it gets the
 * reply to any later request: by the reply to its own change, or by the invalidation of the marker.
 * At that moment the connection number rises, so no earlier reply counts with the new record. From
 * the invalidation until the marker is read the node does not vote.
 */
public final class ConnectionStates {
  private static final String UNREADABLE =
      "its record of the set of nodes has no identity, or another form: a program of another version"
          + " wrote it. If it is given up: redlock nodes forget NODE";

  private static final String READ_ONLY =
      "replied like a replica (READONLY): only masters may vote";

  private final RestartGuard guard;
  private final boolean keepsRecords;
  private final Quarantine quarantine;

  private State state = State.CONNECTING;
  private long connection = 1;
  private long stateSince;
  private String cause = "still connecting for the first time; awaitReady waits for it";

  /** What the server stores about the set of nodes, as this connection number knows it. */
  private NodeRecord record = NodeRecord.NONE;

  /** Whether the last try to read the marker failed. */
  private boolean markerUnread;

  /** A reason to stay out other than age, which does not end by itself; null if there is none. */
  private @Nullable String refusal;

  /** The error with which the server replies to every request; null if there is none. */
  private @Nullable String erring;

  /**
   * The states of a connection that is not there yet.
   *
   * @param keepsRecords whether the server keeps a record of the set of nodes
   */
  public ConnectionStates(
      RestartGuard guard, Duration maxLeaseTime, boolean keepsRecords, long nowNanos) {
    this.guard = guard;
    this.keepsRecords = keepsRecords;
    this.stateSince = nowNanos;
    quarantine = new Quarantine(guard, maxLeaseTime, nowNanos);
  }

  /** The current status. */
  public NodeStatus status() {
    return switch (state) {
      case QUARANTINED ->
          new NodeStatus(
              state,
              connection,
              quarantine.sinceNanos(),
              refusal == null ? quarantine.untilNanos() : 0,
              refusal == null ? quarantine.why() : refusal,
              erring != null,
              known());
      case CONNECTING, PROBING, VOTING ->
          new NodeStatus(
              state,
              connection,
              stateSince,
              0,
              erring == null ? cause : erring,
              erring != null,
              known());
    };
  }

  private @Nullable NodeRecord known() {
    return keepsRecords ? record : null;
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
      quarantine.onLost();
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
    return quarantine.markerSince();
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
    quarantine.onProbed(probe, state == State.PROBING, READ_ONLY.equals(refusal), now);
    onRead(probe.marker(), probe.clustered() ? NodeRecord.NONE : NodeRecord.UNREADABLE);
    refusal = objection != null ? objection : refusalOf(probe);
    settle(now);
  }

  /**
   * The marker was read, or could not be read.
   *
   * @param otherwise the record if it could not
   */
  private void onRead(Probe.@Nullable Marker marker, NodeRecord otherwise) {
    markerUnread = marker == null;
    keep(marker == null ? otherwise : marker.record());
    if (marker != null) {
      quarantine.onMarkerSeen(marker);
    }
  }

  /** Whether the last seen marker says a version that the client does not speak. */
  public boolean isForeign() {
    return quarantine.isForeign();
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

  private void keep(NodeRecord stored) {
    if (keepsRecords) {
      if (isUsable() && !countVotesAlike(record, stored)) {
        connection++;
      }
      record = stored;
      quarantine.onRecord(stored);
    }
  }

  /** The promises to operators have no effect on votes. */
  private static boolean countVotesAlike(NodeRecord one, NodeRecord other) {
    return one.isOfSameSet(other)
        && one.floor() == other.floor()
        && one.before().equals(other.before())
        && one.name().equals(other.name())
        && one.sinceMicros() == other.sinceMicros();
  }

  private @Nullable String refusalOf(Probe probe) {
    NodeIdentity identity = probe.identity();
    Probe.Marker marker = probe.marker();
    if (identity != null && identity.replica()) {
      return "is a replica (role:" + identity.role() + "): only masters may vote";
    }
    if (marker != null && marker.isForeign()) {
      return wireRefusal(marker);
    }
    if (guard == RestartGuard.MARKER && marker == null && !keepsRecords) {
      return "its marker can be neither read nor written, as RestartGuard.MARKER requires";
    }
    if (keepsRecords && marker == null && !probe.clustered()) {
      return "its marker, which says to which set of nodes it belongs, can be neither read nor"
          + " written: "
          + probe.markerError()
          + "; the user needs this key, and HMGET, HSET and DEL there";
    }
    if (keepsRecords && record.isUnreadable()) {
      return UNREADABLE;
    }
    return null;
  }

  private String wireRefusal(Probe.Marker marker) {
    return "its marker says wire version "
        + marker.wire()
        + ", and this client speaks version "
        + Wire.VERSION
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
    quarantine.onFlush(why, now);
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
    if (!quarantine.isUnchecked()) {
      return;
    }
    quarantine.onMarkerRead(marker);
    onRead(marker, error == null ? NodeRecord.NONE : NodeRecord.UNREADABLE);
    if (marker != null && marker.isForeign()) {
      refusal = wireRefusal(marker);
    } else if (error != null && keepsRecords && !quarantine.lastsWithoutFlush(now)) {
      refusal = "its marker cannot be read: " + error; // Until the next probe.
    } else if (marker != null && record.isUnreadable()) {
      refusal = UNREADABLE;
    }
    if (!quarantine.isUnchecked()) {
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

  private void settle(long now) {
    boolean held = quarantine.onTick(now) || refusal != null;
    if (held && state != State.QUARANTINED) {
      quarantine.begin(now);
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
