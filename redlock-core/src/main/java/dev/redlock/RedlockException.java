package dev.redlock;

import dev.redlock.internal.text.Printable;

/**
 * The expected failures of this library. Unchecked; there are no others than the permitted classes.
 */
public abstract sealed class RedlockException extends RuntimeException
    permits LockTimeoutException,
        QuorumUnavailableException,
        LockQueueFullException,
        LeaseLostException,
        RedlockInterruptedException,
        RedlockClosedException {
  private static final long serialVersionUID = 1L;

  RedlockException(String message) {
    super(Printable.of(message)); // It may quote names that users chose.
  }
}
