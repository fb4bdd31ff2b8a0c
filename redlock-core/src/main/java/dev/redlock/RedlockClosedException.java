package dev.redlock;

/** The client is closed, or closing with a grace period. The caller holds nothing. */
public final class RedlockClosedException extends RedlockException {
  private static final long serialVersionUID = 1L;

  public RedlockClosedException() {
    super("this Redlock client is closed, or is closing: it grants no more locks");
  }
}
