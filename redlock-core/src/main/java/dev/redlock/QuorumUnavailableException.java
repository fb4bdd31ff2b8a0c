package dev.redlock;

import static java.util.Objects.requireNonNull;

/**
 * Too few nodes voted in time: they were silent, or in quarantine. It is unknown whether a silent
 * node executed the request. After a failed acquire the client rolls the attempt back on the nodes,
 * in the background.
 */
public final class QuorumUnavailableException extends RedlockException {
  private static final long serialVersionUID = 1L;
  private final AcquireReport report;

  public QuorumUnavailableException(String what, AcquireReport report) {
    super(what + ": " + report.sentence());
    this.report = requireNonNull(report);
  }

  /** The last round, node by node. */
  public AcquireReport report() {
    return report;
  }
}
