package dev.redlock.lettuce.internal;

import dev.redlock.redis.internal.scripts.ServerErrors;
import dev.redlock.spi.NodeError;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import java.io.IOException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;

/** Translates exceptions of Lettuce and Netty into errors of a node. */
public final class Errors {
  /** The first word of a message about a TLS failure. */
  static final String TLS = "TLS";

  private static final int MAX_DEPTH = 12;

  private static final Pattern FIRST_BYTE = Pattern.compile("Invalid first byte: (\\d+) .*");
  private static final Pattern MILLIS = Pattern.compile("(\\d+) ?(?:ms\\b|millisecond\\(s\\))");
  private static final Pattern SECONDS = Pattern.compile("(\\d+) second\\(s\\)");

  private Errors() {}

  static NodeError of(Throwable failure) {
    return new NodeError(kind(failure), message(failure));
  }

  /** The class of the error. */
  static NodeError.Kind kind(Throwable failure) {
    Throwable cause = mostSpecific(failure);
    if (cause instanceof RedisCommandExecutionException) {
      return ServerErrors.kind(String.valueOf(cause.getMessage()));
    }
    return cause instanceof IOException
            || cause instanceof RedisException
            || String.valueOf(cause.getMessage()).contains("HandshakeHandler not registered")
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
    if (cause instanceof SSLException) {
      text = ofTls(cause, text);
    } else if (!(cause instanceof RedisCommandExecutionException)) {
      text = ofClient(cause, text);
    }
    return ServerErrors.of(text).message();
  }

  /** The words of Lettuce and Netty, in one spelling; their inside is no reason for an operator. */
  private static String ofClient(Throwable cause, String text) {
    Matcher first = FIRST_BYTE.matcher(text);
    if (first.matches()) {
      return ofOtherProtocol(Integer.parseInt(first.group(1)));
    } else if (text.contains("HandshakeHandler not registered")
        || text.equals("Connection closed prematurely")) {
      return "the server closed the connection during the handshake";
    } else if (isDefect(cause)) {
      return "the client failed with " + cause.getClass().getSimpleName() + ": " + text;
    }
    String millis = MILLIS.matcher(text).replaceAll("$1 ms");
    return SECONDS.matcher(millis).replaceAll("$1 s").replace("/<unresolved>", "");
  }

  private static String ofOtherProtocol(int firstByte) {
    String what = "the server does not speak the Redis protocol: ";
    return switch (firstByte) {
      case 'H' -> what + "it replies with HTTP; is the port right?";
      case 0x15, 0x16 -> what + "it replies with " + TLS + "; write rediss:// for this port";
      default -> what + "its reply begins with the byte " + firstByte;
    };
  }

  /** Whether a handshake failed because Lettuce did not expect what the server replied. */
  static boolean isHandshakeDefect(Throwable failure) {
    Throwable cause = mostSpecific(failure);
    return isDefect(cause)
        && Arrays.stream(cause.getStackTrace())
            .anyMatch(frame -> frame.getClassName().contains("RedisHandshake"));
  }

  private static boolean isDefect(Throwable cause) {
    return cause instanceof NullPointerException
        || cause instanceof ClassCastException
        || cause instanceof IndexOutOfBoundsException;
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

  /** The exception of the chain that says most: of the server, of TLS, of DNS, or else the last. */
  private static Throwable mostSpecific(Throwable failure) {
    Throwable at = failure;
    for (int i = 0; i < MAX_DEPTH && at.getCause() != null; i++) {
      if (at instanceof RedisCommandExecutionException
          || at instanceof SSLException
          || at instanceof UnknownHostException) {
        return at;
      }
      at = at.getCause();
    }
    return at;
  }
}
