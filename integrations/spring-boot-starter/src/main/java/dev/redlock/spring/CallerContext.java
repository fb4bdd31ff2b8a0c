package dev.redlock.spring;

import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.concurrent.Callable;

/**
 * The values of the caller's thread that Micrometer's context propagation knows, such as the
 * current observation. Loaded with that library only.
 */
final class CallerContext {
  private static final ContextSnapshotFactory FACTORY = ContextSnapshotFactory.builder().build();

  private final ContextSnapshot snapshot = FACTORY.captureAll();

  /** Calls it with these values on the current thread, which has its own ones afterwards. */
  <T> T call(Callable<T> body) throws Exception {
    return snapshot.wrap(body).call();
  }
}
