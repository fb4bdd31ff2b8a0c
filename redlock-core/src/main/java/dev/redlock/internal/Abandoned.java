package dev.redlock.internal;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import org.jspecify.annotations.Nullable;

/**
 * Watches for a lease object that became unreachable without having been released. Kept alive by
 * its {@link LeaseCore}, which the queue keeps while the lease lives.
 */
final class Abandoned extends PhantomReference<DefaultLease> {
  private final LeaseCore core;
  private final @Nullable Throwable acquiredAt;

  Abandoned(
      DefaultLease lease,
      LeaseCore core,
      ReferenceQueue<DefaultLease> queue,
      @Nullable Throwable acquiredAt) {
    super(lease, queue);
    this.core = core;
    this.acquiredAt = acquiredAt;
  }

  LeaseCore core() {
    return core;
  }

  @Nullable Throwable acquiredAt() {
    return acquiredAt;
  }
}
