package dev.redlock.internal.protocol;

/**
 * What a client has learnt about one node from its replies: the offset of its clock, its usual
 * latency, and whether it seems to hang. All of it is a heuristic that affects speed only.
 *
 * <p>The machines of all locks share it, and each runs on a queue of its own. So each field is one
 * volatile value that any queue writes and reads. If two observations race, one is lost, which does
 * no harm. It stays in this package although it is not confined to a queue: the simulator covers
 * its arithmetic, and a snapshot behind a port would allocate on each reply.
 */
public final class NodeKnowledge {
  private static final long FIRST_GUESS_NANOS = 1_000_000;

  /**
   * A busy machine is late by some milliseconds although the node is well. A client that takes such
   * a node for a hung one asks another home node than all other clients.
   */
  private static final long MIN_PATIENCE_NANOS = 10_000_000;

  private static final long MIN_TURN_NANOS = 25_000_000;

  /**
   * Clocks drift by one part in so many (200 ppm). Precise readings are kept against vague ones.
   */
  private static final long DRIFT = 5_000;

  private volatile long offsetMicros;
  private volatile boolean clockKnown;
  private volatile long readingNanos;
  private volatile long readAtNanos;
  private volatile long latencyNanos = FIRST_GUESS_NANOS;
  private volatile boolean hung;
  private volatile boolean silent;
  private volatile long heardNanos = Long.MIN_VALUE / 2;

  /** Learns from a reply: when its request was sent, when it came, the node's clock in between. */
  public void observe(long sentNanos, long answeredNanos, long nodeMicros) {
    hung = false;
    silent = false;
    heardNanos = answeredNanos;
    long took = Math.max(0, answeredNanos - sentNanos);
    long usual = latencyNanos;
    // One slow reply moves the estimate by an eighth; a fast one quickly brings it down again.
    latencyNanos = took < usual ? (usual * 3 + took) / 4 : usual + (took - usual) / 8;
    if (nodeMicros > 0) {
      readClock(nodeMicros - (sentNanos + took / 2) / 1000, took / 2, answeredNanos);
    }
  }

  /**
   * A reading is wrong by up to half of its round trip, and the error grows with time. So a slow
   * reply tells less than a fast one some seconds before. If both cannot be right, the clock was
   * set. The estimate then moves by the least that explains both readings: a reply that a paused
   * process reads half a minute late says little about the clock.
   */
  private void readClock(long offset, long error, long nowNanos) {
    long errorBefore = readingNanos + Math.max(0, nowNanos - readAtNanos) / DRIFT;
    boolean wasSet = Math.abs(offset - offsetMicros) * 1000 > error + errorBefore + 2_000;
    if (!clockKnown || error <= errorBefore || wasSet) {
      long known = offsetMicros;
      boolean vague = clockKnown && error > errorBefore;
      offsetMicros =
          vague ? Math.max(offset - error / 1000, Math.min(known, offset + error / 1000)) : offset;
      readingNanos = error;
      readAtNanos = nowNanos;
      clockKnown = true;
    }
  }

  /** Learns that a request has been unanswered for longer than the node's {@link #patience}. */
  public void overdue() {
    hung = true;
  }

  /** Learns that a request was unanswered for the whole node timeout, or answered by an error. */
  public void failed() {
    hung = true;
    silent = true;
  }

  /** When it last replied. */
  public long heardNanos() {
    return heardNanos;
  }

  /** Whether {@link #estimateMicros} rests on a reply. */
  public boolean clockKnown() {
    return clockKnown;
  }

  /** The node's clock now, as the most precise reply says. */
  public long estimateMicros(long nowNanos) {
    return offsetMicros + nowNanos / 1000;
  }

  /** The usual time from request to reply. */
  public long latencyNanos() {
    return latencyNanos;
  }

  /** How long a reply may take before the node is passed over: three times the usual. */
  long patience() {
    return Math.max(MIN_PATIENCE_NANOS, 3 * latencyNanos);
  }

  /**
   * How long the first of this node's queue may be silent at its turn. At least so long that a
   * process on a busy machine runs again.
   *
   * @param strict whether order matters more than time, as in fair mode
   */
  long turnPatience(boolean strict) {
    return Math.max(strict ? 4 * MIN_TURN_NANOS : MIN_TURN_NANOS, 3 * latencyNanos);
  }

  /** Whether it was silent for longer than usual, and has not replied since. */
  boolean hung() {
    return hung;
  }

  /** Whether it let a whole node timeout pass, or failed, and has not replied since. */
  boolean silent() {
    return silent;
  }
}
