package dev.redlock.testkit;

/** One way to get Redis servers. */
interface ServerSource {

  /** Looks for what is needed to start servers; cheap when asked again. */
  ServerFactory find() throws UnavailableException;

  /** This way cannot be taken here; the message says why. */
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
