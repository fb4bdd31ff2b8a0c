package dev.redlock;

import java.util.List;

/** Too many already wait for the lock in this process: try again later. Nothing was sent. */
public final class LockQueueFullException extends RedlockException {
  private static final long serialVersionUID = 1L;
  private final int length;

  public LockQueueFullException(List<String> names, int length) {
    super(length + " already wait for " + names + " in this process, which is the bound");
    this.length = length;
  }

  /** How many wait. */
  public int length() {
    return length;
  }
}
