package dev.redlock.examples.fencing;

/**
 * The resource has been shown a higher token: somebody else got the lock since, and this holder's
 * lease is over, whether it knows or not. Nothing was read or written.
 */
public final class StaleTokenException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StaleTokenException(String what, long token) {
    super(what + " refused token " + token + ": it has seen a higher one");
  }
}
