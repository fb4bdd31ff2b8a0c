package dev.redlock.bench.system;

import java.util.concurrent.CompletionStage;

/** A lock that is held. */
public interface Held {

  /** Releases it, and waits for the confirmation of the system. */
  void release() throws Exception;

  /** Releases it asynchronously. Only for systems with {@code acquireAsync}. */
  default CompletionStage<?> releaseAsync() {
    throw new UnsupportedOperationException();
  }
}
