package dev.redlock;

import dev.redlock.spi.LockKeys;
import java.util.List;

/**
 * The waiting thread was interrupted. Its interrupt flag is set. The caller holds nothing. The
 * client removes keys that nodes may have stored, in the background.
 */
public final class RedlockInterruptedException extends RedlockException {
  private static final long serialVersionUID = 1L;

  public RedlockInterruptedException(List<String> names) {
    super("interrupted while waiting for [" + LockKeys.shown(names) + "]");
  }

  public RedlockInterruptedException(String awaited) {
    super("interrupted while waiting for " + awaited);
  }
}
