package dev.redlock;

import dev.redlock.spi.LockKeys;
import java.util.List;

/** Too many callers of this client already wait for the lock. Nothing was sent: try later. */
public final class LockQueueFullException extends RedlockException {
  private static final long serialVersionUID = 1L;
  private final int length;

  public LockQueueFullException(List<String> names, int length) {
    super(
        length
            + " callers of this client already wait for ["
            + LockKeys.shown(names)
            + "]: the queue is full");
    this.length = length;
  }

  /** How many callers wait. */
  public int length() {
    return length;
  }
}
