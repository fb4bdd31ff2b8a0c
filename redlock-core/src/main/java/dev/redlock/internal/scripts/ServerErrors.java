package dev.redlock.internal.scripts;

import dev.redlock.spi.NodeError;
import java.util.regex.Pattern;

/** What a server's error message means for a vote. */
public final class ServerErrors {
  private static final Pattern WORDS_OF_THE_COMMAND =
      Pattern.compile(",? with args beginning with.*");
  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}+");
  private static final int MAX_MESSAGE = 200;

  private ServerErrors() {}

  /** The fault behind a server's message; whatever it quotes of the command is cut off. */
  public static NodeError of(String message) {
    return new NodeError(kind(message), clean(message));
  }

  /**
   * The class of a fault. Before 7.0 a script's error is wrapped ({@code ERR Error running script
   * …: -READONLY …}), so the text is searched, not only its first word.
   */
  public static NodeError.Kind kind(String message) {
    if (message.startsWith("NOSCRIPT")) {
      return NodeError.Kind.NO_SCRIPT;
    } else if (message.startsWith("LOADING")) {
      return NodeError.Kind.LOADING;
    } else if (message.startsWith("BUSY") || message.startsWith("UNKILLABLE")) {
      return NodeError.Kind.BUSY;
    } else if (has(message, "READONLY") || message.startsWith("MASTERDOWN")) {
      return NodeError.Kind.READONLY;
    } else if (has(message, "NOAUTH")
        || has(message, "WRONGPASS")
        || message.startsWith("DENIED")) {
      return NodeError.Kind.NOT_AUTHENTICATED;
    } else if (has(message, "NOPERM")
        || has(message, "ACL failure")
        || has(message, "can't run this command")
        || has(message, "no permissions")
        || has(message, "No permissions")) {
      return NodeError.Kind.NO_PERMISSION;
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
        || message.startsWith("Script attempted to access a non local key")) {
      return NodeError.Kind.CLUSTER;
    }
    return NodeError.Kind.UNEXPECTED;
  }

  private static boolean has(String message, String word) {
    return message.contains(word);
  }

  private static String clean(String message) {
    String text = WORDS_OF_THE_COMMAND.matcher(message).replaceAll("");
    text = CONTROL.matcher(text).replaceAll(" ").strip();
    return text.length() <= MAX_MESSAGE ? text : text.substring(0, MAX_MESSAGE) + "…";
  }
}
