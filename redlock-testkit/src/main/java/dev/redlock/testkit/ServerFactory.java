package dev.redlock.testkit;

/** A source of servers that has been found usable. */
interface ServerFactory {

  /** A server that is not started yet. */
  RedisServer create(int index, ServerSpec spec);

  /** What runs, and where it is from. */
  String description();

  /** How many servers it can give. */
  default int capacity() {
    return Integer.MAX_VALUE;
  }
}
