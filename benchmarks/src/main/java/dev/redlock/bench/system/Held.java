package dev.redlock.bench.system;

import java.util.concurrent.CompletionStage;

/** A lock that is held. */
public interface Held {

  /** Releases it, and waits for what the system counts as confirmed. */
  void release() throws Exception;

  /** Releases it without a thread. Only for systems that acquire so. */
  default CompletionStage<?> releaseAsync() {
    throw new UnsupportedOperationException();
  }
}
