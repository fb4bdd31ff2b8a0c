package dev.redlock.testkit;

import java.util.List;

/**
 * Redis nodes could not be started. The message lists what was tried, in order, and why each source
 * failed: no binary for this platform, the port is taken, no Docker, the image is missing, or the
 * last lines of the server's log.
 */
public final class RedisStartException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final boolean portTaken;

  RedisStartException(String message) {
    super(message);
    this.portTaken = false;
  }

  RedisStartException(String message, Throwable cause) {
    super(message, cause);
    this.portTaken = false;
  }

  private RedisStartException(int port, Throwable cause) {
    super("Port " + port + " on 127.0.0.1 is taken by another process", cause);
    this.portTaken = true;
  }

  static RedisStartException portTaken(int port, Throwable cause) {
    return new RedisStartException(port, cause);
  }

  static RedisStartException nothingWorked(List<String> tried) {
    return new RedisStartException(
        "No Redis server found. Tried, in this order:\n  - " + String.join("\n  - ", tried));
  }

  /** Whether another process has taken the port, so that a retry with another port can succeed. */
  boolean isPortTaken() {
    return portTaken;
  }
}
