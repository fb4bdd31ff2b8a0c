package dev.redlock.internal.protocol;

/**
 * What a client has learnt about one node from its answers: the offset of its clock, its usual
 * latency, and whether it seems hung. Guesses, on which nothing but speed depends.
 *
 * <p>Written and read by the queues of all locks without further order: each field is one volatile
 * value, and losing one of two racing observations does no harm.
 */
public final class NodeKnowledge {
  private static final long FIRST_GUESS_NANOS = 1_000_000;

  /**
   * A busy machine is late by some milliseconds without anything being wrong with the node; taking
   * that for a hung one sends clients to different doors.
   */
  private static final long LEAST_PATIENCE_NANOS = 10_000_000;

  /** What clocks run apart: one part in so many, 200 ppm. Good readings are kept against worse. */
  private static final long APART = 5_000;

  private volatile long offsetMicros;
  private volatile boolean clockKnown;
  private volatile long readingNanos;
  private volatile long readAtNanos;
  private volatile long latencyNanos = FIRST_GUESS_NANOS;
  private volatile boolean hung;
  private volatile boolean silent;
  private volatile long heardNanos = Long.MIN_VALUE / 2;

  /**
   * Learns from an answer: when it was asked for, when it came, and the node's clock in between.
   */
  public void observe(long sentNanos, long answeredNanos, long nodeMicros) {
    hung = false;
    silent = false;
    heardNanos = answeredNanos;
    long took = Math.max(0, answeredNanos - sentNanos);
    long usual = latencyNanos;
    // One slow answer moves the estimate by an eighth; a fast one quickly brings it down again.
    latencyNanos = took < usual ? (usual * 3 + took) / 4 : usual + (took - usual) / 8;
    if (nodeMicros > 0) {
      readClock(nodeMicros - (sentNanos + took / 2) / 1000, took / 2, answeredNanos);
    }
  }

  /**
   * Half of the round trip is the error of a reading, and it grows with time: a slow answer tells
   * less than a fast one some seconds ago. If the two cannot both be right, the clock was set, by
   * as little as explains both: the middle of an answer that took a paused process half a minute is
   * nobody's clock.
   */
  private void readClock(long offset, long error, long nowNanos) {
    long errorBefore = readingNanos + Math.max(0, nowNanos - readAtNanos) / APART;
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

  /** When it last answered. */
  public long heardNanos() {
    return heardNanos;
  }

  /** Whether {@link #estimateMicros} rests on an answer. */
  public boolean clockKnown() {
    return clockKnown;
  }

  /** The node's clock now, by the newest answer. */
  public long estimateMicros(long nowNanos) {
    return offsetMicros + nowNanos / 1000;
  }

  /** The usual time from question to answer. */
  public long latencyNanos() {
    return latencyNanos;
  }

  /** How long an answer may take before the node is passed over: three times the usual. */
  long patience() {
    return Math.max(LEAST_PATIENCE_NANOS, 3 * latencyNanos);
  }

  /** Whether it has been silent for longer than usual, and not been heard since. */
  boolean hung() {
    return hung;
  }

  /** Whether it let a whole node timeout pass, or erred, and has not been heard since. */
  boolean silent() {
    return silent;
  }
}
