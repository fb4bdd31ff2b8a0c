package dev.redlock;

import static java.util.Objects.requireNonNull;

/**
 * The lock was not granted in time: others held it ({@link #isHeld}), or it is not known whether
 * they did. It is not known if the wait timeout passed before the nodes replied, which may be an
 * outage, or if this client was paused until the votes were too old to count. The caller holds
 * nothing.
 */
public final class LockTimeoutException extends RedlockException {
  private static final long serialVersionUID = 1L;
  private final AcquireReport report;

  public LockTimeoutException(AcquireReport report) {
    super("lock not acquired: " + report.sentence());
    this.report = requireNonNull(report);
  }

  /**
   * Whether others held the lock, or came first. If not, work that is to run once may run nowhere:
   * do not treat the exception as "another process does it".
   */
  public boolean isHeld() {
    return report.verdict().isHeld();
  }

  /** The last round, node by node. */
  public AcquireReport report() {
    return report;
  }
}
