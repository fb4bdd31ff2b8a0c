package dev.redlock.internal;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Finds lease objects that became unreachable without a release. */
final class LeakDetector {
  private final boolean traces;
  private final Logger log;
  private final ReferenceQueue<DefaultLease> unreachable = new ReferenceQueue<>();

  LeakDetector(boolean traces, Logger log) {
    this.traces = traces;
    this.log = log;
  }

  /** Watches one lease object. Its {@link LeaseCore} keeps it reachable while the lease lives. */
  static final class LeaseLeakReference extends PhantomReference<DefaultLease> {
    private final LeaseCore core;
    private final @Nullable Throwable acquiredAt;

    private LeaseLeakReference(
        DefaultLease lease, @Nullable Throwable acquiredAt, ReferenceQueue<DefaultLease> queue) {
      super(lease, queue);
      core = lease.core();
      this.acquiredAt = acquiredAt;
    }
  }

  /** The stack of the current thread, which acquires a lease; null unless leaks are traced. */
  @Nullable Throwable stackOfCaller() {
    return traces ? new Throwable("the lease was acquired here") : null;
  }

  void watch(DefaultLease lease, @Nullable Throwable acquiredAt) {
    lease.core().watchedBy(new LeaseLeakReference(lease, acquiredAt, unreachable));
  }

  /** Logs each leak once, and lets the lease expire. */
  void reportLeaks() {
    for (Reference<?> r = unreachable.poll(); r != null; r = unreachable.poll()) {
      LeaseLeakReference leak = (LeaseLeakReference) r;
      long leftNanos = leak.core.remainingNanos();
      if (leftNanos > 0) {
        log.warn(
            "a lease on {} with token {} became unreachable without a release: it is no longer"
                + " extended and expires in {} ms{}",
            leak.core.lease.keys(),
            leak.core.lease.token(),
            leftNanos / 1_000_000L,
            leak.acquiredAt == null ? " (traceLeaks(true) logs where it was acquired)" : "",
            leak.acquiredAt);
        leak.core.stopExtending();
      }
    }
  }
}
