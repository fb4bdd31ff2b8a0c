package dev.redlock;

import static java.util.Objects.requireNonNull;

/** The wait timeout passed, or the one attempt was refused, while others held the lock. */
public final class LockTimeoutException extends RedlockException {
  private static final long serialVersionUID = 1L;
  private final transient AcquireReport report;

  public LockTimeoutException(AcquireReport report) {
    super("lock not acquired: " + report.sentence());
    this.report = requireNonNull(report);
  }

  /** What the last attempt saw, node by node. */
  public AcquireReport report() {
    return report;
  }
}
