package dev.redlock;

import static java.util.Objects.requireNonNull;

/**
 * The lock was not granted in time although enough nodes may vote: other clients held it, or the
 * wait timeout passed before the nodes replied, or this client was paused until the votes were too
 * old to count. The caller holds nothing.
 */
public final class LockTimeoutException extends RedlockException {
  private static final long serialVersionUID = 1L;
  private final transient AcquireReport report;

  public LockTimeoutException(AcquireReport report) {
    super("lock not acquired: " + report.sentence());
    this.report = requireNonNull(report);
  }

  /** The last round, node by node. */
  public AcquireReport report() {
    return report;
  }
}
