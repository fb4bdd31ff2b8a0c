package dev.redlock.lettuce.internal;

import java.time.Duration;

/**
 * The first connections of a JVM get more time. They load hundreds of classes; on a busy machine
 * that takes longer than the connect timeout, and each healthy server would look dead.
 */
final class ColdStart {
  /** With the default of 500 ms: 5 s. */
  private static final int FACTOR = 10;

  /** For the whole JVM, because classes are loaded once. */
  static final ColdStart OF_JVM = new ColdStart();

  /** Set once by the first probe that succeeds, read by the first connect of each node. */
  private volatile boolean over;

  /** How long the first connect of a node may take, if the others may take this time. */
  Duration patience(Duration usual) {
    return over ? usual : usual.multipliedBy(FACTOR);
  }

  /** A server was probed: the classes are loaded. */
  void end() {
    over = true;
  }
}
