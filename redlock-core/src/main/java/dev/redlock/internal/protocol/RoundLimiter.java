package dev.redlock.internal.protocol;

import dev.redlock.AcquireVerdict;

/**
 * How many rounds one client may have under way, over all its locks.
 *
 * <p>Without a limit, a client that starts more rounds than the nodes answer within a node timeout
 * gets nothing done: each round times out, is rolled back and is started again, which is more work
 * than to answer it. So the limit falls when votes come too late to be useful, and rises while they
 * come in time and the limit is reached. This is additive increase, multiplicative decrease, as in
 * TCP.
 *
 * <p>It sees the rounds of this client only. It is a heuristic that affects speed only, never
 * safety. The machines of all locks share it, and each runs in an actor of its own: the shell's
 * subclass has the monitor.
 */
public class RoundLimiter {
  private static final int FIRST_LIMIT = 256;
  private static final int MIN_LIMIT = 16;
  private static final int MAX_LIMIT = 1 << 16;

  private static final double DECREASE = 0.7;

  /** Longest backoff of an attempt that the limit rejected, in rounds. */
  private static final double MAX_BACKOFF = 8;

  // Factors of the backoff at each rejection and each start; in balance at about five to one.
  private static final double LONGER = 1.002;
  private static final double SHORTER = 1.01;

  private final int minLimit;
  private int underWay;
  private double limit;
  private double backoff = 1;
  private boolean lowered;
  private long loweredNanos;

  /** The duration of the fastest round: what a round takes without our load. 0 before the first. */
  private long fastestNanos;

  public RoundLimiter() {
    this(FIRST_LIMIT, MIN_LIMIT);
  }

  /**
   * With other limits.
   *
   * @param firstLimit how many rounds may be under way at first
   * @param minLimit how many may always be under way
   */
  public RoundLimiter(int firstLimit, int minLimit) {
    limit = firstLimit;
    this.minLimit = minLimit;
  }

  public int underWay() {
    return underWay;
  }

  public int limit() {
    return (int) limit;
  }

  /** For how many rounds to wait before the next may start; 0 if it may start now. */
  public double backoff() {
    if (underWay < (int) limit) {
      return 0;
    }
    backoff = Math.min(MAX_BACKOFF, backoff * LONGER);
    return backoff;
  }

  public void began() {
    underWay++;
    backoff = Math.max(1, backoff / SHORTER);
  }

  /** A round is given up, and tells nothing. */
  void gaveUp() {
    underWay--;
  }

  /** No more rounds than this may be under way now. */
  void atMost(int rounds) {
    limit = Math.min(limit, Math.max(minLimit, rounds));
  }

  /** A round that began at this time has ended: won, refused or given up. */
  public void ended(
      AcquireVerdict verdict, long startNanos, long timeoutNanos, Nodes nodes, long nowNanos) {
    boolean reached = underWay-- >= (int) limit;
    long took = nowNanos - startNanos;
    boolean tooLate = took > timeoutNanos / 2 && took > 2 * fastestNanos;
    switch (verdict) {
      case ACQUIRED -> {
        if (tooLate) {
          lower(startNanos, took, nowNanos);
        } else if (reached && limit < MAX_LIMIT) {
          // As in TCP: doubles per round trip while rounds are fast, then grows by one. A round
          // that waited behind others at the nodes is not fast: more of them would only wait
          // longer, and an acquire behind them all. The 64th allows for jitter.
          long fast = Math.min(2 * fastestNanos + timeoutNanos / 64, timeoutNanos / 4);
          limit += took < fast ? 1 : 1 / limit;
        }
        fastestNanos = fastestNanos == 0 ? took : Math.min(fastestNanos, took);
      }
      case UNAVAILABLE, TOO_SLOW -> {
        // Nodes that hang or are down do not reply any faster if they are asked less.
        if (tooLate && quorumHeardSince(nowNanos - timeoutNanos, nodes)) {
          lower(startNanos, took, nowNanos);
        }
      }
      default -> {}
    }
  }

  /** By three tenths, but once for all rounds that were under way together. */
  private void lower(long startNanos, long took, long nowNanos) {
    if (lowered && startNanos - loweredNanos < 0) {
      return;
    }
    lowered = true;
    loweredNanos = nowNanos;
    if (limit <= minLimit) {
      fastestNanos = took; // As slow with the least load: the nodes are that far away now.
    }
    limit = Math.max(minLimit, limit * DECREASE);
  }

  static boolean quorumHeardSince(long sinceNanos, Nodes nodes) {
    return nodes.members().hasQuorum(i -> nodes.knowledge(i).heardNanos() - sinceNanos >= 0);
  }
}
