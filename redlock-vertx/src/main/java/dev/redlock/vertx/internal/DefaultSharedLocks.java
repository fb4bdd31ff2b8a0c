package dev.redlock.vertx.internal;

import dev.redlock.vertx.RedlockSharedLocks;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Future;
import io.vertx.core.shareddata.Lock;
import java.time.Duration;
import java.util.function.Supplier;

/** The methods of SharedData on top of a client. */
record DefaultSharedLocks(VertxRedlock redlock) implements RedlockSharedLocks {
  /** The default of {@code SharedData}. */
  private static final long DEFAULT_TIMEOUT_MILLIS = 10_000;

  @Override
  public Future<Lock> getLock(String name) {
    return getLockWithTimeout(name, DEFAULT_TIMEOUT_MILLIS);
  }

  @Override
  public Future<Lock> getLockWithTimeout(String name, long timeoutMillis) {
    return redlock.acquire(name, Duration.ofMillis(timeoutMillis)).map(lease -> lease::release);
  }

  @Override
  public <T> Future<T> withLock(String name, Supplier<Future<T>> block) {
    return withLock(name, DEFAULT_TIMEOUT_MILLIS, block);
  }

  @Override
  public <T> Future<T> withLock(String name, long timeoutMillis, Supplier<Future<T>> block) {
    return redlock.withLock(name, Duration.ofMillis(timeoutMillis), lease -> block.get());
  }
}
