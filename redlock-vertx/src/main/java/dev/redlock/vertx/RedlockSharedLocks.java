package dev.redlock.vertx;

import io.vertx.core.Future;
import io.vertx.core.shareddata.Lock;
import java.util.function.Supplier;

/**
 * The quorum lock in the shapes of {@link io.vertx.core.shareddata.SharedData}, for code that used
 * its cluster-wide locks. The difference to know: a lease can end while its holder works, and this
 * {@code Lock} cannot tell; new code uses {@link VertxRedlock#withLock}, which does.
 */
public interface RedlockSharedLocks {

  /** Waits for at most 10 s, as {@code SharedData} does. */
  Future<Lock> getLock(String name);

  /** Waits for at most {@code timeoutMillis}. */
  Future<Lock> getLockWithTimeout(String name, long timeoutMillis);

  /** Runs the block under the lock, waiting for it for at most 10 s. */
  <T> Future<T> withLock(String name, Supplier<Future<T>> block);

  /** Runs the block under the lock, waiting for it for at most {@code timeoutMillis}. */
  <T> Future<T> withLock(String name, long timeoutMillis, Supplier<Future<T>> block);
}
