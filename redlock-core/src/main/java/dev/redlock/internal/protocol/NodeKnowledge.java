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

  /** How long a good reading of the clock is kept against worse ones. */
  private static final long READING_NANOS = 200_000_000;

  private volatile long offsetMicros;
  private volatile boolean clockKnown;
  private volatile long readingNanos;
  private volatile long readAtNanos;
  private volatile long latencyNanos = FIRST_GUESS_NANOS;
  private volatile boolean hung;

  /**
   * Learns from an answer: when it was asked for, when it came, and the node's clock in between.
   */
  public void observe(long sentNanos, long answeredNanos, long nodeMicros) {
    hung = false;
    long took = Math.max(0, answeredNanos - sentNanos);
    long usual = latencyNanos;
    // One slow answer moves the estimate by an eighth; a fast one quickly brings it down again.
    latencyNanos = took < usual ? (usual * 3 + took) / 4 : usual + (took - usual) / 8;
    boolean better = took <= readingNanos || answeredNanos - readAtNanos > READING_NANOS;
    if (nodeMicros > 0 && (better || !clockKnown)) {
      // Half of the round trip is the error: a slow answer tells less than a fast one just before.
      offsetMicros = nodeMicros - (sentNanos + took / 2) / 1000;
      readingNanos = took;
      readAtNanos = answeredNanos;
      clockKnown = true;
    }
  }

  /** Learns that a request has been unanswered for longer than the node's {@link #patience}. */
  public void overdue() {
    hung = true;
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
}
