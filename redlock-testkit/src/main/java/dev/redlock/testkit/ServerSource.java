package dev.redlock.testkit;

/** One way to get Redis servers. */
interface ServerSource {

  /** Checks whether servers can be started. Repeated calls are cheap. */
  ServerFactory find() throws UnavailableException;

  /** This source is not usable on this machine; the message says why. */
  final class UnavailableException extends Exception {

    private static final long serialVersionUID = 1L;

    UnavailableException(String message) {
      super(message);
    }

    UnavailableException(String message, Throwable cause) {
      super(message + ": " + cause, cause);
    }
  }
}
