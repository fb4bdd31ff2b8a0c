package dev.redlock;

/** The client is closed. The caller holds nothing. */
public final class RedlockClosedException extends RedlockException {
  private static final long serialVersionUID = 1L;

  public RedlockClosedException() {
    super("this Redlock client is closed");
  }
}
