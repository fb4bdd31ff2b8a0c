package dev.redlock.cluster.internal;

import org.jspecify.annotations.Nullable;

/** What a master answers when it does not serve the slot, now. Nothing was executed. */
record Redirection(Kind kind, @Nullable Address to) {
  enum Kind {
    /** Another serves the slot, from now on. */
    MOVED,
    /** Another is about to get it, and has this key already, or is the one to create it. */
    ASK,
    /** The slot is on its way, or served by nobody: later. */
    LATER,
    /** Not a matter of time: the answer. */
    NEVER
  }

  private static final Redirection LATER = new Redirection(Kind.LATER, null);
  private static final Redirection NEVER = new Redirection(Kind.NEVER, null);

  /** Reads the message of an error of the kind {@code CLUSTER}. */
  static Redirection of(String message, Address from) {
    if (message.startsWith("TRYAGAIN") || message.startsWith("CLUSTERDOWN")) {
      return LATER;
    }
    Kind kind =
        message.startsWith("MOVED ")
            ? Kind.MOVED
            : message.startsWith("ASK ") ? Kind.ASK : Kind.NEVER;
    String[] words = message.split(" ", 4);
    if (kind == Kind.NEVER || words.length < 3) {
      return NEVER;
    }
    Address to = Address.parse(words[2], from);
    return to == null ? NEVER : new Redirection(kind, to);
  }
}
