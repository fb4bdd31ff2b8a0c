package dev.redlock.lettuce.internal;

import dev.redlock.lettuce.internal.scripts.ServerErrors;
import dev.redlock.spi.NodeError;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import java.io.IOException;
import javax.net.ssl.SSLException;

/** Translates exceptions of Lettuce and Netty into errors of a node. */
public final class Failures {
  /** The first word of a message about a TLS failure. */
  static final String TLS = "TLS";

  private static final int MAX_DEPTH = 12;

  private Failures() {}

  /** The class of the error. */
  static NodeError.Kind kind(Throwable failure) {
    Throwable cause = mostSpecific(failure);
    if (cause instanceof RedisCommandExecutionException) {
      return ServerErrors.kind(String.valueOf(cause.getMessage()));
    }
    return cause instanceof IOException || cause instanceof RedisException
        ? NodeError.Kind.DISCONNECTED
        : NodeError.Kind.UNEXPECTED;
  }

  /** A sentence for people, without stack trace and without credentials. */
  public static String message(Throwable failure) {
    Throwable cause = mostSpecific(failure);
    String text = cause.getMessage();
    if (text == null || text.isBlank()) {
      text = cause.getClass().getSimpleName();
    }
    return ServerErrors.of(cause instanceof SSLException ? ofTls(cause, text) : text).message();
  }

  /** The message of a TLS exception is often general; that of its last cause says more. */
  private static String ofTls(Throwable cause, String text) {
    Throwable root = cause;
    for (int i = 0; i < MAX_DEPTH && root.getCause() != null; i++) {
      root = root.getCause();
    }
    String why = root.getMessage();
    return TLS + ": " + text + (why == null || text.contains(why) ? "" : " (" + why + ")");
  }

  /** The exception of the chain that says most: of the server, of TLS, or else the last. */
  private static Throwable mostSpecific(Throwable failure) {
    Throwable at = failure;
    for (int i = 0; i < MAX_DEPTH && at.getCause() != null; i++) {
      if (at instanceof RedisCommandExecutionException || at instanceof SSLException) {
        return at;
      }
      at = at.getCause();
    }
    return at;
  }
}
