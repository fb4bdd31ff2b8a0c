package dev.redlock.testkit;

/** A node replied to a command with an error. The message is that of the node. */
public final class RedisReplyException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  RedisReplyException(String message) {
    super(message);
  }
}
