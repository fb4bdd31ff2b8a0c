package dev.redlock.bench.system;

import java.util.concurrent.CompletionStage;

/** One system's client in this JVM, connected to all nodes it uses. Safe from any thread. */
public interface LockClient extends AutoCloseable {

  /** Waits until the lock is held; by this thread, in systems where a thread owns the lock. */
  Held acquire(String name) throws Exception;

  /** Whether it supports {@link #acquireAsync}. */
  default boolean isAsync() {
    return false;
  }

  /** The same, asynchronously. */
  default CompletionStage<Held> acquireAsync(String name) {
    throw new UnsupportedOperationException();
  }

  @Override
  void close();
}
