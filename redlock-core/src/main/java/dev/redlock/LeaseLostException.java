package dev.redlock;

import static java.util.Objects.requireNonNull;

import dev.redlock.spi.LockKeys;
import java.util.List;

/** The lease has ended before its holder released it, and no longer protects anything. */
public final class LeaseLostException extends RedlockException {
  private static final long serialVersionUID = 1L;
  private final LeaseEnd end;

  public LeaseLostException(List<String> names, FencingToken token, LeaseEnd end) {
    super("lease on [" + LockKeys.shown(names) + "] with token " + token + " ended: " + end);
    this.end = requireNonNull(end);
  }

  /** How the lease ended. */
  public LeaseEnd end() {
    return end;
  }
}
