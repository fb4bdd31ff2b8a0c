package dev.redlock.lettuce.internal;

import dev.redlock.redis.internal.GuardedListener;
import dev.redlock.redis.internal.Invalidations;
import dev.redlock.redis.internal.OperatorLog;
import dev.redlock.redis.internal.Probe;
import dev.redlock.redis.internal.Trial;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.Time;
import io.lettuce.core.api.push.PushMessage;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What a server reports on one session beside its replies to requests: invalidations, a flush, that
 * it is a replica, and that it is erring. No event counts once the session is no longer open.
 */
record ServerEvents(
    ConnectionLoop loop,
    NodeSession session,
    Prober prober,
    GuardedListener listener,
    OperatorLog operator) {

  /** Handles the errors that the server replies with. */
  BiConsumer<NodeError, LockKeys> errors(boolean clustered, Time time, String keyPrefix) {
    Trial.Sender sender = (request, handler) -> session.send(request, false, handler);
    // In a cluster the slot of the trial may belong to another master.
    Trial trial = clustered ? null : new Trial(sender, time, keyPrefix, this::onTrial);
    return (error, keys) -> {
      if (error.kind() == NodeError.Kind.READONLY) {
        onReadOnly();
      }
      if (trial != null) {
        trial.onError(error, keys);
      }
    };
  }

  /** The node must not vote while it replies like a replica. The next probe shows what it is. */
  private void onReadOnly() {
    if (loop.test(session, states -> states.onReadOnly(loop.now()))) {
      loop.probeSoon(session);
    }
  }

  private void onTrial(@Nullable NodeError error) {
    String cause =
        error == null ? null : error + ": tried again every " + Trial.PAUSE_MILLIS + " ms";
    if (loop.apply(session, states -> states.onTrial(cause))) {
      operator.onTrial(cause);
    }
  }

  void onPush(PushMessage message, String keyPrefix) {
    if ("invalidate".equals(message.getType())) {
      Invalidations.read(
          message.getContent(),
          keyPrefix,
          this::onInvalidated,
          this::onMarkerInvalidated,
          this::onFlush);
    }
  }

  private void onInvalidated(String key) {
    if (loop.session() == session) {
      listener.onInvalidated(key);
    }
  }

  /**
   * The server has lost its scripts, and possibly its keys: a proxy between client and server keeps
   * the connection while the server restarts. The marker shows it, and its reply comes before that
   * of the call that is sent again, whose vote must not count if the keys are gone.
   */
  void onScriptsLost() {
    onFlush();
  }

  private void onFlush() {
    if (loop.apply(session, states -> states.onFlush(loop.now()))) {
      listener.onAllInvalidated();
      readMarker(
          () -> loop.probeAgain(session)); // A replica drops its data when it begins to follow.
    }
  }

  /**
   * Another client has changed the record, or the marker is gone. The server has queued this before
   * the reply to any later request, so no vote after the change counts with the old record.
   */
  private void onMarkerInvalidated() {
    if (loop.apply(session, states -> states.onMarkerInvalidated(loop.now()))) {
      readMarker(() -> {});
    }
  }

  private void readMarker(Runnable next) {
    prober
        .marker(session, loop.markerSince())
        .whenComplete(
            (read, failure) -> {
              Throwable why = read == null ? failure : read.failure();
              String error = why == null ? null : Errors.of(why).toString();
              Probe.Marker marker = read == null ? null : read.value();
              if (loop.apply(session, states -> states.onMarker(marker, error, loop.now()))) {
                next.run();
              }
            });
  }
}
