package dev.redlock;

import static java.util.Objects.requireNonNull;

import java.util.List;

/** The lease has ended and protects nothing any more. */
public final class LeaseLostException extends RedlockException {
  private static final long serialVersionUID = 1L;
  private final LeaseEnd end;

  public LeaseLostException(List<String> names, FencingToken token, LeaseEnd end) {
    super("lease on " + names + " with token " + token + " ended: " + end);
    this.end = requireNonNull(end);
  }

  /** How it ended. */
  public LeaseEnd end() {
    return end;
  }
}
