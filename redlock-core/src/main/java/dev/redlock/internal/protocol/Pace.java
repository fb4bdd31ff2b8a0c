package dev.redlock.internal.protocol;

/**
 * How many rounds one client may have under way, over all its locks. Whoever asks for more than the
 * nodes answer in a node timeout gets nothing done at all: each round is given up, rolled back and
 * put again, which is more work than to answer it. So the bound falls when answers come too late to
 * be of use, and rises while they come early and it is reached.
 *
 * <p>It sees only this client's rounds: a guess, on which nothing but speed depends. Safe for use
 * by the queues of all locks.
 */
public final class Pace {
  private static final int FIRST = 256;
  private static final int LEAST = 16;
  private static final int MOST = 1 << 16;

  private final int least;
  private int underWay;
  private int most;
  private long loweredNanos;
  private boolean lowered;

  /** With the usual bounds. */
  public Pace() {
    this(FIRST, LEAST);
  }

  /**
   * With others.
   *
   * @param first how many rounds may be under way to begin with
   * @param least how many may always be
   */
  public Pace(int first, int least) {
    most = first;
    this.least = least;
  }

  /** Whether another round would be one too many. */
  synchronized boolean isFull() {
    return underWay >= most;
  }

  synchronized void began() {
    underWay++;
  }

  /** A round is over: won, refused or given up. */
  synchronized void ended(AcquireRound r, Nodes nodes, long nowNanos) {
    boolean reached = underWay >= most;
    underWay--;
    long took = nowNanos - r.startNanos;
    switch (r.verdict()) {
      case WON -> {
        if (took > r.timeoutNanos / 2) {
          lower(r, nowNanos);
        } else if (took < r.timeoutNanos / 4 && reached && most < MOST) {
          most++;
        }
      }
      case UNAVAILABLE, TOO_SLOW -> {
        // Nodes that are hung or gone do not answer any faster if they are asked less.
        if (took > r.timeoutNanos / 2 && quorumHeardSince(nowNanos - r.timeoutNanos, nodes)) {
          lower(r, nowNanos);
        }
      }
      default -> {}
    }
  }

  /** By three tenths, but once for all rounds that were under way together. */
  private void lower(AcquireRound r, long nowNanos) {
    if (lowered && r.startNanos - loweredNanos < 0) {
      return;
    }
    lowered = true;
    loweredNanos = nowNanos;
    most = Math.max(least, most * 7 / 10);
  }

  private static boolean quorumHeardSince(long sinceNanos, Nodes nodes) {
    int heard = 0;
    for (int i = 0; i < nodes.count(); i++) {
      heard += nodes.knowledge(i).heardNanos() - sinceNanos >= 0 ? 1 : 0;
    }
    return heard >= Quorum.of(nodes.count());
  }
}
