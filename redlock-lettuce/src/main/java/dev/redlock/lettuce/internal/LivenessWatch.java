package dev.redlock.lettuce.internal;

import dev.redlock.redis.internal.ConnectionStates;
import dev.redlock.redis.internal.PublishedStatus;
import dev.redlock.redis.internal.Silence;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks a node every 500 ms: pings a silent connection, gives up a dead one, and probes a node
 * again that is kept out for a reason that may change.
 *
 * <p>Without invalidations the client does not learn at once that the record in the marker changed.
 * So it reads the marker again and again, and asks for no vote when it last did so too long ago. A
 * lease of the former record then ends within the longest lease time and that time; an operator
 * waits longer, see {@link RestartGuard#guardTime}.
 */
final class LivenessWatch {
  static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** A check later than this after the one before shows that this process was paused. */
  private static final long LATE_NANOS = 2 * INTERVAL_NANOS;

  /** The shortest time between two probes of a node that is kept out. */
  private static final long REFUSED_RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Less than the interval, so that each check reads the marker. */
  private static final long REREAD_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

  /** Shorter than what the guard time adds to the longest lease time. */
  private static final long UNREAD_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

  static final NodeError UNREAD =
      ConnectionLoop.disconnected(
          "the server sends no invalidations, and did not reply about its marker for 1.5 s");

  private final ConnectionLoop loop;
  private final PublishedStatus status;
  private final Time time;

  private final boolean markers;

  // Guarded by this.
  private Time.@Nullable Cancellable next;
  private boolean closed;
  private long startedNanos;
  private long readBeforeNanos;
  private long silentNanos;
  private long probedNanos;
  private long readNanos;

  /**
   * @param markers whether the server has a marker
   */
  LivenessWatch(ConnectionLoop loop, PublishedStatus status, Time time, boolean markers) {
    this.loop = loop;
    this.status = status;
    this.time = time;
    this.markers = markers;
  }

  synchronized void start() {
    if (!closed) {
      startedNanos = time.nanos();
      next = time.schedule(this::check, INTERVAL_NANOS);
    }
  }

  synchronized void close() {
    closed = true;
    if (next != null) {
      next.cancel();
    }
  }

  /** A new connection was probed, first at this time. */
  synchronized void onProbed(long now, long sentNanos) {
    probedNanos = now;
    readNanos = sentNanos;
  }

  /** The server has replied to a probe that was sent at this time. */
  synchronized void onProbedAgain(long sentNanos) {
    readNanos = sentNanos;
  }

  /** Whether the server has a marker, and has not replied about it to a recent probe. */
  boolean isUnread() {
    return isUnread(UNREAD_NANOS);
  }

  private synchronized boolean isUnread(long nanos) {
    return markers && time.nanos() - readNanos > nanos;
  }

  /** Whether the last probe is older than this; if so, the caller probes now. */
  synchronized boolean takeProbe(long minAgeNanos) {
    long now = time.nanos();
    if (now - probedNanos < minAgeNanos) {
      return false;
    }
    probedNanos = now;
    return true;
  }

  private void check() {
    status.tick();
    NodeSession session = loop.session();
    if (session != null) {
      boolean late = isLate();
      long silent = silence(session.channel().lastReadNanos());
      switch (Silence.judge(silent, session.unanswered() > 0)) {
        case WAIT -> {}
        case PING -> session.ping();
        case GIVE_UP ->
            loop.lost(
                session,
                ConnectionLoop.disconnected(
                    "no byte arrived for " + TimeUnit.NANOSECONDS.toSeconds(silent) + " s"));
      }
      if (status.test(ConnectionStates::refused) && takeProbe(REFUSED_RETRY_NANOS)) {
        loop.probeAgain(session);
      }
      if (markers && !loop.tracks()) {
        rereadMarker(session, late);
      }
    }
    start();
  }

  /** Whether this process was paused; then the next check judges, after what waits was read. */
  private synchronized boolean isLate() {
    return time.nanos() - startedNanos > LATE_NANOS;
  }

  /**
   * How long no byte has arrived, as the checks saw it. A pause of this process counts for little:
   * what the server sent meanwhile waits to be read, and the naive way, which takes all of it for
   * silence, gives up connections that work.
   */
  synchronized long silence(long lastReadNanos) {
    long now = time.nanos();
    long before = lastReadNanos == readBeforeNanos ? silentNanos : 0;
    readBeforeNanos = lastReadNanos;
    silentNanos = before + Math.min(now - startedNanos, LATE_NANOS);
    return Math.min(silentNanos, now - lastReadNanos);
  }

  private void rereadMarker(NodeSession session, boolean late) {
    if (isUnread(2 * UNREAD_NANOS) && !late) {
      loop.lost(session, UNREAD);
    } else if (takeProbe(REREAD_NANOS)) {
      loop.probeAgain(session);
    }
  }
}
