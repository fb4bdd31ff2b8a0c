package dev.redlock.testkit;

/** Creates servers from a source that is usable. */
interface ServerFactory {

  /** Creates a server, without starting it. */
  RedisServer create(int index, ServerSpec spec);

  /** The server program and where it was found. */
  String description();

  /** How many servers it can create. */
  default int capacity() {
    return Integer.MAX_VALUE;
  }
}
