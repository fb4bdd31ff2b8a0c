package dev.redlock.vertx;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.RedlockListener;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.vertx.internal.BusEvents;
import dev.redlock.vertx.internal.BusHints;
import dev.redlock.vertx.internal.Clients;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A lock client for verticles. Make one per Vert.x instance and share it; every method may be
 * called from any thread, an event loop above all, and none blocks.
 *
 * <p>Every result arrives on the context of the caller: event loop, worker or virtual thread. What
 * a verticle acquires is its own: when it is undeployed, its leases are released and its waiting
 * calls fail with {@link java.util.concurrent.CancellationException}. A context outside any
 * verticle belongs to Vert.x as a whole.
 *
 * <p>Failures are those of {@link dev.redlock.DistributedLock}; arguments that do not fit fail the
 * future with {@link IllegalArgumentException}.
 */
public interface VertxRedlock {

  /**
   * Makes a client that closes with Vert.x, tells others on the event bus what is released, and
   * listens there while somebody waits. Returns at once; nodes join when they come.
   *
   * @throws IllegalArgumentException naming the option that does not fit
   */
  static VertxRedlock create(Vertx vertx, RedlockOptions options) {
    return create(vertx, options, builder -> {});
  }

  /** Like {@link #create(Vertx, RedlockOptions)}, with what JSON cannot say set on the builder. */
  static VertxRedlock create(
      Vertx vertx, RedlockOptions options, Consumer<RedlockBuilder> customizer) {
    return Clients.create(vertx, options, customizer);
  }

  /**
   * Wraps a client made elsewhere, which stays the caller's to close. For notices on the event bus
   * give its builder {@link #hints} and {@link #events}.
   */
  static VertxRedlock wrap(Vertx vertx, Redlock redlock) {
    return Clients.wrap(vertx, redlock);
  }

  /** The event bus as a carrier of release notices, for {@link RedlockBuilder#hints}. */
  static ReleaseHints hints(Vertx vertx, RedlockOptions options) {
    return new BusHints(vertx, options);
  }

  /**
   * Publishes life-cycle events at {@link RedlockOptions#getEventAddress()}, for {@link
   * RedlockBuilder#listener}.
   *
   * @throws IllegalArgumentException if there is no such address
   */
  static RedlockListener events(Vertx vertx, RedlockOptions options) {
    return new BusEvents(vertx, options);
  }

  /** Waits for the lock, for at most {@code wait}; zero tries once. */
  Future<VertxLease> acquire(String name, Duration wait);

  /** Waits for a lock on several names at once: all or nothing. */
  Future<VertxLease> acquire(List<String> names, Duration wait);

  /** Waits for a lock with options of its own. */
  Future<VertxLease> acquire(List<String> names, LockOptions options, Duration wait);

  /** Tries once; empty if the lock is held. */
  Future<Optional<VertxLease>> tryAcquire(String name);

  /**
   * Runs the body under the lock, then releases, then completes with the body's result. The body's
   * failure is passed on as it is. If the lease ended before the body did, the future fails with
   * {@link dev.redlock.LeaseLostException}, with the body's failure, if any, as suppressed.
   */
  <T> Future<T> withLock(String name, Duration wait, Function<VertxLease, Future<T>> body);

  /** The same lock in the shapes of {@link io.vertx.core.shareddata.SharedData}. */
  RedlockSharedLocks sharedLocks();

  /**
   * The client itself. One made by {@link #create} completes its futures on a thread that also runs
   * its timers: continue elsewhere before doing anything long.
   */
  Redlock redlock();

  /**
   * Cancels what waits, releases what is held through this object and, if {@link #create} made the
   * client, closes it. Idempotent; never fails. Vert.x does the same when it closes.
   */
  Future<Void> close();
}
