package dev.redlock;

import static java.util.Objects.requireNonNull;

/** Too many callers of this client already wait for the lock. Nothing was sent: try later. */
public final class LockQueueFullException extends RedlockException {
  private static final long serialVersionUID = 1L;
  private final AcquireReport report;

  public LockQueueFullException(AcquireReport report) {
    super("lock not acquired: " + report.sentence());
    this.report = requireNonNull(report);
  }

  /** Without votes; {@link AcquireReport#queuedBefore()} says how many callers wait. */
  public AcquireReport report() {
    return report;
  }
}
