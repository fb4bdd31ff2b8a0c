package dev.redlock.testkit;

/** A node answered a command with an error; the message is the node's own. */
public final class RedisReplyException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  RedisReplyException(String message) {
    super(message);
  }
}
