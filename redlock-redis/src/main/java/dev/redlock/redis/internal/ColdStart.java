package dev.redlock.redis.internal;

import java.time.Duration;

/**
 * The first connections of a JVM get more time. They load hundreds of classes; on a busy machine
 * that takes longer than the connect timeout, and each healthy server would look dead.
 */
public final class ColdStart {
  private static final int FACTOR = 10;

  /** With the default of 500 ms, and with 5 s or less; a longer timeout is not made longer. */
  private static final Duration MOST = Duration.ofSeconds(5);

  /** For the whole JVM, because classes are loaded once. */
  public static final ColdStart OF_JVM = new ColdStart();

  /** Set once by the first probe that succeeds, read by each connect. */
  private volatile boolean over;

  ColdStart() {}

  /** How long a step of a connect may take, which later may take this time. */
  public Duration patience(Duration usual) {
    if (over || usual.compareTo(MOST) > 0) {
      return usual;
    }
    Duration more = usual.multipliedBy(FACTOR);
    return more.compareTo(MOST) < 0 ? more : MOST;
  }

  /** A server was probed: the classes are loaded. */
  public void end() {
    over = true;
  }
}
