package dev.redlock.vertx;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.vertx.internal.BusHints;
import dev.redlock.vertx.internal.Clients;
import io.vertx.codegen.annotations.GenIgnore;
import io.vertx.codegen.annotations.VertxGen;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A lock client for verticles. Create one per Vert.x instance and share it. No method blocks; every
 * method is safe from any thread, including event loops.
 *
 * <p>Every result arrives on the context of the caller: event loop, worker or virtual thread. A
 * lease belongs to the verticle that acquired it: when that verticle is undeployed, the client
 * releases its leases, and its waiting calls fail with {@link
 * java.util.concurrent.CancellationException}. The lease of a {@link #withLock} whose body still
 * runs is kept until the body has ended, for {@link RedlockOptions#getCloseGraceMillis} at most. A
 * context outside any verticle belongs to the Vert.x instance.
 *
 * <p>A client keeps the process alive until Vert.x has closed, unless the threads of Vert.x are
 * daemons.
 *
 * <p>Failures are those of {@link dev.redlock.DistributedLock}. An invalid argument fails the
 * future with {@link IllegalArgumentException}.
 */
@VertxGen
public interface VertxRedlock {

  /**
   * Creates a client that closes when Vert.x closes. Returns at once, even in a new JVM: a separate
   * thread builds the client, and calls wait for it. So a call without a wait time fails right
   * after this method: see {@link #ready()} and {@link #connect}.
   *
   * @throws IllegalArgumentException if an option is out of range; the message names it. Other
   *     faults appear only when the client is built (a node URI that cannot be read, a missing
   *     file). They make {@link #ready()} and every call fail
   */
  static VertxRedlock create(Vertx vertx, RedlockOptions options) {
    return create(vertx, options, builder -> {});
  }

  /**
   * Creates a client. The future completes with the client when a quorum of nodes votes, so that a
   * free lock can be acquired. It does not fail for unreachable nodes, but waits for them. To limit
   * the wait, use {@link #create} and {@link #ready()}; or use {@link Future#timeout}, and close
   * the client if it arrives later. Never throws; fails with {@link IllegalArgumentException} if an
   * option is invalid.
   */
  static Future<VertxRedlock> connect(Vertx vertx, RedlockOptions options) {
    return Clients.connect(vertx, options, builder -> {});
  }

  /**
   * Like {@link #create(Vertx, RedlockOptions)}. The customizer can set options of the builder that
   * JSON cannot express. It is called on another thread.
   */
  @GenIgnore
  static VertxRedlock create(
      Vertx vertx, RedlockOptions options, Consumer<RedlockBuilder> customizer) {
    return Clients.create(vertx, options, customizer);
  }

  /**
   * Wraps an existing client, which the caller must close. To use release hints on the event bus,
   * pass {@link #hints} to its builder.
   */
  @GenIgnore(GenIgnore.PERMITTED_TYPE)
  static VertxRedlock wrap(Vertx vertx, Redlock redlock) {
    return Clients.wrap(vertx, redlock);
  }

  /** Returns the event bus as a carrier of release hints, for {@link RedlockBuilder#hints}. */
  @GenIgnore
  static ReleaseHints hints(Vertx vertx, RedlockOptions options) {
    return new BusHints(vertx, options);
  }

  /**
   * Completes when a quorum of nodes votes, so that a free lock can be acquired; see {@link
   * dev.redlock.operations.Operations#ready()}. Fails if the client cannot be built or is closed
   * before.
   */
  Future<Void> ready();

  /**
   * Waits for the lock, for at most {@code wait}; zero is a single try. The future completes at the
   * latest one node timeout after that. Limit the time by {@code wait} and not by {@link
   * Future#timeout}: with a timeout of the future, the client does not know that the caller has
   * gone, and still takes the lock.
   */
  @GenIgnore(GenIgnore.PERMITTED_TYPE)
  Future<VertxLease> acquire(String name, Duration wait);

  /** Waits for a lock on several names: all names are granted, or none. */
  @GenIgnore(GenIgnore.PERMITTED_TYPE)
  Future<VertxLease> acquire(List<String> names, Duration wait);

  /** Waits for a lock with these options. */
  @GenIgnore(GenIgnore.PERMITTED_TYPE)
  Future<VertxLease> acquire(List<String> names, LockOptions options, Duration wait);

  /**
   * Waits for a lock with these options, until the caller gives up. If {@code giveUp} completes
   * first, successfully or not, the future fails with {@link
   * java.util.concurrent.CancellationException}, and the client releases a lease that it is
   * granted. After the lease was delivered, {@code giveUp} has no effect. Use it if another event
   * than a timeout ends the wait, for example a closed connection.
   */
  @GenIgnore
  Future<VertxLease> acquire(
      List<String> names, LockOptions options, Duration wait, Future<?> giveUp);

  /** Acquires without waiting; empty if the lock is held. */
  @GenIgnore
  Future<Optional<VertxLease>> tryAcquire(String name);

  /**
   * Acquires the lock, runs the body, releases the lock, and then completes with the body's result.
   * If the body fails, throws or returns null, the future fails with that failure. If the lease
   * ended before the body, for example because the verticle was undeployed, the future fails with
   * {@link dev.redlock.LeaseLostException}; the failure of the body, if any, is suppressed in it.
   */
  @GenIgnore(GenIgnore.PERMITTED_TYPE)
  <T> Future<T> withLock(String name, Duration wait, Function<VertxLease, Future<T>> body);

  /** Returns the same lock with the methods of {@link io.vertx.core.shareddata.SharedData}. */
  RedlockSharedLocks sharedLocks();

  /**
   * Returns the client itself. If {@link #create} made the client, it completes its futures on one
   * separate thread. Code that blocks there delays the other futures of this client, but not its
   * leases or timers. Run long work on another thread.
   *
   * <p>While the client is being built, this method blocks; on an event loop it throws {@link
   * IllegalStateException} instead. After {@link #ready()} it returns at once.
   */
  @GenIgnore(GenIgnore.PERMITTED_TYPE)
  Redlock redlock();

  /**
   * Cancels waiting calls, stops the work of each {@code LockedVerticle}, waits until the bodies of
   * {@link #withLock} have ended, for {@link RedlockOptions#getCloseGraceMillis} at most, and
   * releases the other leases that were acquired through this object. If {@link #create} made the
   * client, also closes it. Refuses new calls at once. Idempotent; never fails. Vert.x calls it
   * when it closes.
   */
  Future<Void> close();
}
