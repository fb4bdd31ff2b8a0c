package dev.redlock;

import static java.util.Objects.requireNonNull;

/**
 * Too few nodes could answer. Whether the nodes that were silent did what they were asked is
 * unknown; whatever they did is undone in the background.
 */
public final class QuorumUnavailableException extends RedlockException {
  private static final long serialVersionUID = 1L;
  private final transient AcquireReport report;

  public QuorumUnavailableException(String what, AcquireReport report) {
    super(what + ": " + report.sentence());
    this.report = requireNonNull(report);
  }

  /** What the last attempt saw, node by node. */
  public AcquireReport report() {
    return report;
  }
}
