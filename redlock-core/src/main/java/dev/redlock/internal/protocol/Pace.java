package dev.redlock.internal.protocol;

/**
 * How many rounds one client may have under way, over all its locks. Whoever asks for more than the
 * nodes answer in a node timeout gets nothing done at all: each round is given up, rolled back and
 * put again, which is more work than to answer it. So the bound falls when answers come too late to
 * be of use, and rises while they do not and it is reached, as TCP's window does.
 *
 * <p>It sees only this client's rounds: a guess, on which nothing but speed depends. Safe for use
 * by the queues of all locks.
 */
public final class Pace {
  private static final int FIRST = 256;
  private static final int LEAST = 16;
  private static final int MOST = 1 << 16;

  private static final double LOWERED = 0.7;

  /** Who finds the bound reached rests for so many rounds at most. */
  private static final double LONGEST_REST = 8;

  // Together: some five who find it reached for each that begins.
  private static final double LONGER = 1.002;
  private static final double SHORTER = 1.01;

  private final int least;
  private int underWay;
  private double most;
  private double rest = 1;
  private boolean lowered;
  private long loweredNanos;

  /** What the fastest round took: so long it takes without our load. 0 before the first. */
  private long fastestNanos;

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

  /** How many are under way now. */
  public synchronized int underWay() {
    return underWay;
  }

  /** How many may be. */
  synchronized int most() {
    return (int) most;
  }

  /** For how many rounds to rest before another is put; 0 if it may be put now. */
  synchronized double rest() {
    if (underWay < (int) most) {
      return 0;
    }
    rest = Math.min(LONGEST_REST, rest * LONGER);
    return rest;
  }

  synchronized void began() {
    underWay++;
    rest = Math.max(1, rest / SHORTER);
  }

  /** A round is over: won, refused or given up. */
  synchronized void ended(AcquireRound r, Nodes nodes, long nowNanos) {
    boolean reached = underWay >= (int) most;
    underWay--;
    long took = nowNanos - r.startNanos;
    boolean tooLate = took > r.timeoutNanos / 2 && took > 2 * fastestNanos;
    switch (r.verdict()) {
      case WON -> {
        if (tooLate) {
          lower(r, took, nowNanos);
        } else if (reached && most < MOST) {
          // Twice as many in the time of a round while there is plenty of it, then one more.
          most += took < r.timeoutNanos / 4 ? 1 : 1 / most;
        }
        fastestNanos = fastestNanos == 0 ? took : Math.min(fastestNanos, took);
      }
      case UNAVAILABLE, TOO_SLOW -> {
        // Nodes that are hung or gone do not answer any faster if they are asked less.
        if (tooLate && quorumHeardSince(nowNanos - r.timeoutNanos, nodes)) {
          lower(r, took, nowNanos);
        }
      }
      default -> {}
    }
  }

  /** By three tenths, but once for all rounds that were under way together. */
  private void lower(AcquireRound r, long took, long nowNanos) {
    if (lowered && r.startNanos - loweredNanos < 0) {
      return;
    }
    lowered = true;
    loweredNanos = nowNanos;
    if (most <= least) {
      fastestNanos = took; // As slow with the least: it is not our load, so they are far away now.
    }
    most = Math.max(least, most * LOWERED);
  }

  private static boolean quorumHeardSince(long sinceNanos, Nodes nodes) {
    int heard = 0;
    for (int i = 0; i < nodes.count(); i++) {
      heard += nodes.knowledge(i).heardNanos() - sinceNanos >= 0 ? 1 : 0;
    }
    return heard >= Quorum.of(nodes.count());
  }
}
