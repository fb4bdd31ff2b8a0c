package dev.redlock.vertx;

import io.vertx.codegen.annotations.VertxGen;
import io.vertx.core.Future;
import io.vertx.core.shareddata.Lock;
import java.util.function.Supplier;

/**
 * The quorum lock with the methods of {@link io.vertx.core.shareddata.SharedData}, for code that
 * used its cluster-wide locks. There is one difference: a lease can end while its holder works, and
 * this {@code Lock} cannot report that. New code should use {@link VertxRedlock#withLock}, which
 * reports it.
 */
@VertxGen
public interface RedlockSharedLocks {

  /** Waits for at most 10 s, as {@code SharedData} does. */
  Future<Lock> getLock(String name);

  /** Waits for at most {@code timeoutMillis}. */
  Future<Lock> getLockWithTimeout(String name, long timeoutMillis);

  /** Runs the block while this client holds the lock. Waits for the lock for at most 10 s. */
  <T> Future<T> withLock(String name, Supplier<Future<T>> block);

  /**
   * Runs the block while this client holds the lock. Waits for the lock for at most {@code
   * timeoutMillis}.
   */
  <T> Future<T> withLock(String name, long timeoutMillis, Supplier<Future<T>> block);
}
