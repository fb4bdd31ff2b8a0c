package dev.redlock.lettuce.internal.scripts;

import dev.redlock.spi.NodeError;
import java.util.regex.Pattern;

/** Translates a server's error message into a {@link NodeError}. */
public final class ServerErrors {
  private static final Pattern QUOTED_COMMAND = Pattern.compile(",? with args beginning with.*");
  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}+");
  private static final Pattern POSITION_IN_SCRIPT =
      Pattern.compile(" ?script: [0-9a-f]+, on @user_script:\\d+\\.?$");
  private static final int MAX_MESSAGE = 200;

  private ServerErrors() {}

  /** The error of this message, without the parts that quote the command. */
  public static NodeError of(String message) {
    NodeError.Kind kind = kind(message);
    return new NodeError(kind, clean(message), isNotExecuted(kind, message));
  }

  /**
   * Whether a script with this error has written nothing. Redis checks its memory before the first
   * write of a script only: that write fails, or none fails for this reason. A server that rejects
   * writes rejects the first one and does not begin to do so during a script. Permissions differ
   * between commands, so a command inside the script may fail after a write.
   */
  private static boolean isNotExecuted(NodeError.Kind kind, String message) {
    return switch (kind) {
      case NO_SCRIPT,
          LOADING,
          NOT_AUTHENTICATED,
          OUT_OF_MEMORY,
          MISCONFIGURED,
          READONLY,
          REPLICAS ->
          true;
      case BUSY -> message.startsWith("BUSY ");
      case NO_PERMISSION, CLUSTER -> !isInsideScript(message);
      case TIMEOUT, DISCONNECTED, OVERLOADED, FOREIGN_KEY, CLOSED, UNEXPECTED -> false;
    };
  }

  private static boolean isInsideScript(String message) {
    return has(message, "script: ")
        || has(message, "user_script")
        || has(message, "running script")
        || has(message, "executing the script")
        || has(message, "ACL failure")
        || has(message, "Script attempted");
  }

  /**
   * Whether the user has no permission for a key of the request. The error says nothing about other
   * names.
   */
  public static boolean concernsKeys(NodeError error) {
    return error.kind() == NodeError.Kind.NO_PERMISSION && has(error.message(), " key");
  }

  /**
   * The class of the error. Before 7.0 Redis wraps the error of a script ({@code ERR Error running
   * script …: -READONLY …}), so this searches the whole text, not only its first word.
   */
  public static NodeError.Kind kind(String message) {
    if (message.startsWith("NOSCRIPT")) {
      return NodeError.Kind.NO_SCRIPT;
    } else if (message.startsWith("LOADING")) {
      return NodeError.Kind.LOADING;
    } else if (message.startsWith("BUSY") || message.startsWith("UNKILLABLE")) {
      return NodeError.Kind.BUSY;
    } else if (concernsPermission(message)) { // First: it quotes the name of the user.
      return NodeError.Kind.NO_PERMISSION;
    } else if (has(message, "MISCONF")) {
      return NodeError.Kind.MISCONFIGURED;
    } else if (has(message, "READONLY") || message.startsWith("MASTERDOWN")) {
      return NodeError.Kind.READONLY;
    } else if (has(message, "NOAUTH")
        || has(message, "WRONGPASS")
        || message.startsWith("DENIED")) {
      return NodeError.Kind.NOT_AUTHENTICATED;
    } else if (has(message, "OOM ")) {
      return NodeError.Kind.OUT_OF_MEMORY;
    } else if (has(message, "NOREPLICAS")) {
      return NodeError.Kind.REPLICAS;
    } else if (has(message, "WRONGTYPE")) {
      return NodeError.Kind.FOREIGN_KEY;
    } else if (message.startsWith("MOVED")
        || message.startsWith("ASK ")
        || message.startsWith("TRYAGAIN")
        || has(message, "CLUSTERDOWN")
        || has(message, "CROSSSLOT")
        || has(message, "Script attempted to access a non local key")) {
      return NodeError.Kind.CLUSTER;
    }
    return NodeError.Kind.UNEXPECTED;
  }

  private static boolean concernsPermission(String message) {
    return has(message, "NOPERM")
        || has(message, "ACL failure")
        || has(message, "can't run this command")
        || has(message, "can't access at least one of the keys")
        || has(message, "no permissions")
        || has(message, "No permissions");
  }

  private static boolean has(String message, String word) {
    return message.contains(word);
  }

  private static String clean(String message) {
    String text = QUOTED_COMMAND.matcher(message).replaceAll("");
    text = POSITION_IN_SCRIPT.matcher(text).replaceAll("");
    text = CONTROL.matcher(text).replaceAll(" ").strip();
    return text.length() <= MAX_MESSAGE ? text : text.substring(0, MAX_MESSAGE) + "…";
  }
}
