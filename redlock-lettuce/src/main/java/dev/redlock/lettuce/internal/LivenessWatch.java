package dev.redlock.lettuce.internal;

import dev.redlock.spi.Time;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks a node every 500 ms: pings a silent connection, gives up a dead one, and probes a node
 * again that is kept out for a reason that may change.
 */
final class LivenessWatch {
  static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** The shortest time between two probes of a node that is kept out. */
  private static final long REFUSED_RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final ConnectionLoop loop;
  private final PublishedStatus status;
  private final Time time;

  // Guarded by this.
  private Time.@Nullable Cancellable next;
  private boolean closed;
  private long probedNanos;

  LivenessWatch(ConnectionLoop loop, PublishedStatus status, Time time) {
    this.loop = loop;
    this.status = status;
    this.time = time;
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
    }
    start();
  }
}
