package dev.redlock;

/** The client is closed and takes no new work. */
public final class RedlockClosedException extends RedlockException {
  private static final long serialVersionUID = 1L;

  public RedlockClosedException() {
    super("this Redlock client is closed");
  }
}
