package dev.redlock;

import static java.util.Objects.requireNonNull;

/**
 * Too few nodes replied in time. Whether a silent node executed the request is unknown. After a
 * failed acquire the client rolls back in the background what nodes may have stored.
 */
public final class QuorumUnavailableException extends RedlockException {
  private static final long serialVersionUID = 1L;
  private final transient AcquireReport report;

  public QuorumUnavailableException(String what, AcquireReport report) {
    super(what + ": " + report.sentence());
    this.report = requireNonNull(report);
  }

  /** The last round, node by node. */
  public AcquireReport report() {
    return report;
  }
}
