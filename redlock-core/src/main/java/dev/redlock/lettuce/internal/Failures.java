package dev.redlock.lettuce.internal;

import dev.redlock.internal.scripts.ServerErrors;
import dev.redlock.spi.NodeError;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import java.io.IOException;
import javax.net.ssl.SSLException;

/** What an exception of the client means. */
public final class Failures {
  /** What the message of a failure of TLS begins with. */
  static final String TLS = "TLS";

  private static final int DEEPEST = 12;

  private Failures() {}

  /** The class of the fault. */
  static NodeError.Kind kind(Throwable failure) {
    Throwable cause = telling(failure);
    if (cause instanceof RedisCommandExecutionException) {
      return ServerErrors.kind(String.valueOf(cause.getMessage()));
    }
    return cause instanceof IOException || cause instanceof RedisException
        ? NodeError.Kind.DISCONNECTED
        : NodeError.Kind.UNEXPECTED;
  }

  /** A sentence for people, without stack trace or credentials. */
  public static String message(Throwable failure) {
    Throwable cause = telling(failure);
    String text = cause.getMessage();
    if (text == null || text.isBlank()) {
      text = cause.getClass().getSimpleName();
    }
    return ServerErrors.of(cause instanceof SSLException ? ofTls(cause, text) : text).message();
  }

  /** What TLS says is often only that something was invalid; what it was stands at the end. */
  private static String ofTls(Throwable cause, String text) {
    Throwable root = cause;
    for (int i = 0; i < DEEPEST && root.getCause() != null; i++) {
      root = root.getCause();
    }
    String why = root.getMessage();
    return TLS + ": " + text + (why == null || text.contains(why) ? "" : " (" + why + ")");
  }

  /** The exception in the chain that says most: what the server said, TLS said, or the last. */
  private static Throwable telling(Throwable failure) {
    Throwable at = failure;
    for (int i = 0; i < DEEPEST && at.getCause() != null; i++) {
      if (at instanceof RedisCommandExecutionException || at instanceof SSLException) {
        return at;
      }
      at = at.getCause();
    }
    return at;
  }
}
