package dev.redlock;

import java.util.List;

/**
 * The waiting thread was interrupted. Its interrupt flag is set again; the attempt was abandoned
 * and is cleaned up in the background.
 */
public final class RedlockInterruptedException extends RedlockException {
  private static final long serialVersionUID = 1L;

  public RedlockInterruptedException(List<String> names) {
    super("interrupted while waiting for " + names);
  }
}
