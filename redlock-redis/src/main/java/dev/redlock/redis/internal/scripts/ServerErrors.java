package dev.redlock.redis.internal.scripts;

import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeError.Kind;
import java.util.List;
import java.util.regex.Pattern;

/** Translates a server's error message into a {@link NodeError}. */
public final class ServerErrors {
  private static final Pattern QUOTED_COMMAND = Pattern.compile(",? with args beginning with.*");
  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}+");
  private static final Pattern POSITION_IN_SCRIPT =
      Pattern.compile(" ?script: [0-9a-f]+, on @user_script:\\d+\\.?$");
  private static final Pattern INSIDE_SCRIPT =
      Pattern.compile(
          "script: |user_script|running script|executing the script|ACL failure|Script attempted");
  private static final int MAX_MESSAGE = 200;

  /**
   * What the messages of each kind contain; the first that fits counts. Before 7.0 Redis wraps the
   * error of a script ({@code ERR Error running script …: -READONLY …}), so most are searched in
   * the whole text. A message about permissions comes first: it quotes the name of the user.
   */
  private static final List<Words> WORDS =
      List.of(
          new Words(Kind.NO_SCRIPT, "^NOSCRIPT"),
          new Words(Kind.LOADING, "^LOADING"),
          new Words(Kind.BUSY, "^BUSY|^UNKILLABLE"),
          new Words(
              Kind.NO_PERMISSION,
              "NOPERM|ACL failure|can't run this command|can't access at least one of the keys"
                  + "|[Nn]o permissions"),
          new Words(Kind.MISCONFIGURED, "MISCONF"),
          new Words(Kind.READONLY, "READONLY|^MASTERDOWN"),
          new Words(Kind.NOT_AUTHENTICATED, "NOAUTH|WRONGPASS|^DENIED"),
          new Words(Kind.OUT_OF_MEMORY, "OOM "),
          new Words(Kind.REPLICAS, "NOREPLICAS"),
          new Words(Kind.FOREIGN_KEY, "WRONGTYPE"),
          new Words(
              Kind.CLUSTER,
              "^MOVED|^ASK |^TRYAGAIN|CLUSTERDOWN|CROSSSLOT"
                  + "|Script attempted to access a non local key"));

  private record Words(Kind kind, Pattern pattern) {
    Words(Kind kind, String pattern) {
      this(kind, Pattern.compile(pattern));
    }
  }

  private ServerErrors() {}

  /** The error of this message, without the parts that quote the command. */
  public static NodeError of(String message) {
    Kind kind = kind(message);
    return new NodeError(kind, clean(message), isNotExecuted(kind, message));
  }

  /**
   * Whether a script with this error has written nothing. Redis checks its memory before the first
   * write of a script only: that write fails, or none fails for this reason. A server that rejects
   * writes rejects the first one and does not begin to do so during a script. Permissions differ
   * between commands, so a command inside the script may fail after a write.
   */
  private static boolean isNotExecuted(Kind kind, String message) {
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
      case NO_PERMISSION, CLUSTER -> !INSIDE_SCRIPT.matcher(message).find();
      case TIMEOUT, DISCONNECTED, OVERLOADED, FOREIGN_KEY, CLOSED, UNEXPECTED -> false;
    };
  }

  /**
   * Whether the user has no permission for a key of the request. The error says nothing about other
   * names.
   */
  public static boolean concernsKeys(NodeError error) {
    return error.kind() == Kind.NO_PERMISSION && error.message().contains(" key");
  }

  /** The class of the error. */
  public static Kind kind(String message) {
    return WORDS.stream()
        .filter(words -> words.pattern().matcher(message).find())
        .map(Words::kind)
        .findFirst()
        .orElse(Kind.UNEXPECTED);
  }

  private static String clean(String message) {
    String text = QUOTED_COMMAND.matcher(message).replaceAll("");
    text = POSITION_IN_SCRIPT.matcher(text).replaceAll("");
    text = CONTROL.matcher(text).replaceAll(" ").strip();
    return text.length() <= MAX_MESSAGE ? text : text.substring(0, MAX_MESSAGE) + "…";
  }
}
