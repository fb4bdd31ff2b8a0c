package dev.redlock.lettuce.internal.scripts;

import dev.redlock.spi.LockKeys;

/**
 * The format of keys and scripts. The marker of each node has its number, and a client sends
 * nothing to a node with another one.
 */
public final class Wire {
  /** The format of this library. */
  public static final int VERSION = 1;

  private static final String IN_KEYS = ":" + VERSION + ":";

  private Wire() {}

  /**
   * The key of a queue, a wake key or a watch key as the node names it: with the version, so that
   * queues of two versions never mix. Lock keys and fence keys have no version, because votes
   * depend on them.
   *
   * @param key the key as {@link LockKeys} names it
   */
  public static String named(String key) {
    int kind = kindOf(key);
    return key.substring(0, kind) + IN_KEYS + key.substring(kind + 1);
  }

  /** The key as {@link LockKeys} names it; the same if it is no key of a queue of this version. */
  public static String original(String key) {
    int kind = kindOf(key);
    return kind >= 0 && key.startsWith(IN_KEYS, kind)
        ? key.substring(0, kind) + key.substring(kind + IN_KEYS.length() - 1)
        : key;
  }

  /** A name has no colon behind its last brace. */
  private static int kindOf(String key) {
    return key.indexOf(':', key.lastIndexOf('}') + 1);
  }
}
