package dev.redlock.redis.internal.scripts;

/**
 * The format of keys and scripts. The marker of each node has its number, and so have the keys of
 * queues. A client sends nothing to a node with another number.
 */
public final class Wire {
  /** The format of this library. */
  public static final int VERSION = 1;

  private Wire() {}
}
