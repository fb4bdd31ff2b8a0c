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
  private static final long LEAST_PATIENCE_NANOS = 2_000_000;

  private volatile long offsetMicros;
  private volatile boolean clockKnown;
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
    if (nodeMicros > 0) {
      offsetMicros = nodeMicros - (sentNanos + took / 2) / 1000;
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
