package dev.redlock.redis.internal;

import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.redis.internal.scripts.ServerErrors;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.Time;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether a server that replied with an error executes scripts at all. The server may be
 * out of memory, unable to save, loading or busy, or it may not permit this user to write. Each
 * request then costs as much as on a healthy server and has no effect. One error proves little: the
 * memory may be short for a moment only, or one name may not be permitted. So after an error the
 * trial writes the keys of a lock under a name of its own. If that fails too, the server is erring,
 * and the trial is repeated every {@value #PAUSE_MILLIS} ms until it succeeds. One per session.
 *
 * <p>The user may be permitted some names only, and not that of the trial. The trial then uses the
 * name of the request that failed, with {@value #NAME} behind it: most permissions are patterns
 * that end with a star.
 */
public final class Trial {
  /** A client sends an erring server five trials per second. */
  public static final long PAUSE_MILLIS = 200;

  private static final long PAUSE_NANOS = PAUSE_MILLIS * 1_000_000;

  /** The lock key of a trial expires after 1 ms, and its fence key after this time. */
  private static final long FENCE_LIFE_MILLIS = 1_000;

  private static final String NAME = "redlock.trial";

  /** Sends a request of the trial on the session. */
  public interface Sender {
    void send(EncodedRequest request, Consumer<NodeReply> handler);
  }

  private final Sender sender;
  private final Time time;
  private final String keyPrefix;

  /** Written by the trial that is in progress. */
  private volatile EncodedRequest request;

  /** The name to use if the trial's is not permitted; empty if there is none, or it was used. */
  private volatile String fallbackName = "";

  private final Consumer<@Nullable NodeError> result;
  private final AtomicBoolean inProgress = new AtomicBoolean();

  /** When the last trial ended. Written by the trial that is in progress. */
  private volatile long endedNanos;

  /**
   * @param result receives the result of each trial: the error, or null if the trial succeeded;
   *     called on any thread
   */
  public Trial(Sender sender, Time time, String keyPrefix, Consumer<@Nullable NodeError> result) {
    this.sender = sender;
    this.time = time;
    this.result = result;
    endedNanos = time.nanos() - PAUSE_NANOS;
    this.keyPrefix = keyPrefix;
    request = requestFor(NAME);
  }

  /**
   * An extension of a missing key writes it: the same writes as those of an acquire, but with a
   * token that does not depend on the node's clock.
   */
  private EncodedRequest requestFor(String name) {
    LockKeys keys = LockKeys.of(keyPrefix, List.of(name));
    return EncodedRequest.of(new LockRequest.Extend(keys, "trial", 1, 1), FENCE_LIFE_MILLIS);
  }

  /** The server replied with an error to a request for these names. */
  public void onError(NodeError error, LockKeys asked) {
    if (!concernsServer(error) || !inProgress.compareAndSet(false, true)) {
      return;
    }
    fallbackName = ServerErrors.concernsKeys(error) ? "" : asked.names().get(0) + "." + NAME;
    long wait = endedNanos + PAUSE_NANOS - time.nanos();
    if (wait <= 0) {
      send();
    } else {
      time.schedule(this::send, wait);
    }
  }

  private void send() {
    sender.send(request, this::onReply);
  }

  private void onReply(NodeReply reply) {
    NodeError error = reply.error();
    boolean notPermitted = error != null && ServerErrors.concernsKeys(error);
    if (notPermitted && tryFallbackName()) {
      return;
    }
    boolean errs = error != null && concernsServer(error) && !notPermitted;
    endedNanos = time.nanos();
    if (errs) {
      time.schedule(this::send, PAUSE_NANOS);
    } else {
      inProgress.set(false);
    }
    result.accept(errs ? error : null);
  }

  private boolean tryFallbackName() {
    String name = fallbackName;
    fallbackName = "";
    if (name.isEmpty()) {
      return false;
    }
    try {
      request = requestFor(name);
    } catch (IllegalArgumentException e) {
      return false; // The name is too long with the addition.
    }
    send();
    return true;
  }

  /** Whether the server replied with this error, and the error may concern the whole server. */
  private static boolean concernsServer(NodeError error) {
    return switch (error.kind()) {
      case LOADING,
          READONLY,
          OUT_OF_MEMORY,
          MISCONFIGURED,
          BUSY,
          NO_PERMISSION,
          NOT_AUTHENTICATED,
          REPLICAS,
          UNEXPECTED ->
          true;
      case TIMEOUT, DISCONNECTED, OVERLOADED, FOREIGN_KEY, NO_SCRIPT, CLUSTER, CLOSED -> false;
    };
  }
}
