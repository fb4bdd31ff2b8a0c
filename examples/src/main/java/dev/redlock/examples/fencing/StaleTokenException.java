package dev.redlock.examples.fencing;

/**
 * The resource has seen a higher token: another client was granted the lock since, so the lease of
 * this holder has ended, even if the holder does not know it. Nothing was read or written.
 */
public final class StaleTokenException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The resource and the rejected token. */
  public StaleTokenException(String what, long token) {
    super(what + " rejected token " + token + ": it has seen a higher one");
  }
}
