package dev.redlock;

/** The expected failures of this library. Unchecked, and closed: these are all. */
public abstract sealed class RedlockException extends RuntimeException
    permits LockTimeoutException,
        QuorumUnavailableException,
        LockQueueFullException,
        LeaseLostException,
        RedlockInterruptedException,
        RedlockClosedException {
  private static final long serialVersionUID = 1L;

  RedlockException(String message) {
    super(message);
  }
}
