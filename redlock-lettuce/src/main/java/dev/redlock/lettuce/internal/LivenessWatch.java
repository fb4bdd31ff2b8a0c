package dev.redlock.lettuce.internal;

import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks a node every 500 ms: pings a silent connection, gives up a dead one, and probes a node
 * again that is kept out for a reason that may change. Without invalidations, what the client knows
 * of the marker is true for a limited time only, so it reads the marker again and again.
 */
final class LivenessWatch {
  static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** The shortest time between two probes of a node that is kept out. */
  private static final long REFUSED_RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long SHORTEST_REREAD_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ConnectionLoop loop;
  private final PublishedStatus status;
  private final Time time;

  /**
   * How often the marker is read where no invalidation says that it changed; 0 if there is none.
   */
  private final long rereadNanos;

  // Guarded by this.
  private Time.@Nullable Cancellable next;
  private boolean closed;
  private long probedNanos;
  private long readNanos;

  /**
   * @param markers whether the server has a marker
   */
  LivenessWatch(
      ConnectionLoop loop,
      PublishedStatus status,
      Time time,
      boolean markers,
      Duration maxLeaseTime) {
    this.loop = loop;
    this.status = status;
    this.time = time;
    rereadNanos = markers ? Math.max(SHORTEST_REREAD_NANOS, maxLeaseTime.toNanos() / 3) : 0;
  }

  synchronized void start() {
    if (!closed) {
      next = time.schedule(this::check, INTERVAL_NANOS);
    }
  }

  synchronized void close() {
    closed = true;
    if (next != null) {
      next.cancel();
    }
  }

  /** A new connection was probed. */
  synchronized void onProbed(long now) {
    probedNanos = now;
    readNanos = now;
  }

  /** The server has replied to a probe that was sent at this time. */
  synchronized void onProbedAgain(long sentNanos) {
    readNanos = sentNanos;
  }

  private synchronized long unreadNanos() {
    return time.nanos() - readNanos;
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
      long silent = time.nanos() - session.channel().lastReadNanos();
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
      if (rereadNanos > 0 && !loop.tracks()) {
        rereadMarker(session);
      }
    }
    start();
  }

  private void rereadMarker(NodeSession session) {
    long unread = unreadNanos();
    if (unread > 2 * rereadNanos) {
      loop.lost(
          session,
          ConnectionLoop.disconnected(
              "the server sends no invalidations, and did not reply about its marker for "
                  + TimeUnit.NANOSECONDS.toSeconds(unread)
                  + " s"));
    } else if (takeProbe(rereadNanos)) {
      loop.probeAgain(session);
    }
  }
}
