package dev.redlock.cluster.internal;

import org.jspecify.annotations.Nullable;

/** The reply of a master that does not serve the slot now. The master has executed nothing. */
record Redirection(Kind kind, @Nullable Address to) {
  enum Kind {
    /** Another master serves the slot from now on. */
    MOVED,
    /** Another master is about to get the slot. It has the key already, or must create it. */
    ASK,
    /** The slot is being moved, and no master has all keys: use one key at a time. */
    SPLIT,
    /** No master serves the slot: retry later. */
    LATER,
    /** A retry cannot help: the error is the reply. */
    NEVER
  }

  /** Part of a script's error about a key that it may not access on this master. */
  private static final String NON_LOCAL = "Script attempted to access a non local key";

  private static final Redirection SPLIT = new Redirection(Kind.SPLIT, null);
  private static final Redirection LATER = new Redirection(Kind.LATER, null);
  private static final Redirection NEVER = new Redirection(Kind.NEVER, null);

  /** Parses the message of an error of the kind {@code CLUSTER}. */
  static Redirection of(String message, Address from) {
    if (message.startsWith("TRYAGAIN") || message.contains(NON_LOCAL)) {
      return SPLIT;
    }
    if (message.startsWith("CLUSTERDOWN")) {
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
