package dev.redlock.internal.protocol;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;

/**
 * Fair mode: where this process stands in line, and how it leaves. It stands at the door, and for a
 * while at a node that was the door before, or that refused it in a round which others granted;
 * every place it does not need must be left, or it holds up all who came later.
 */
final class PlaceInLine {
  private final LockKeys keys;
  private final Nodes nodes;
  private final Randomness random;
  private final Cleanup cleanup;
  private final String process;
  private long stands;
  private long lineTimeoutMillis;

  PlaceInLine(LockKeys keys, Nodes nodes, Randomness random, Cleanup cleanup, String process) {
    this.keys = keys;
    this.nodes = nodes;
    this.random = random;
    this.cleanup = cleanup;
    this.process = process;
  }

  /** What to ask the node with, so that whoever came earlier is served earlier. */
  LockRequest.Line stand(Waiter w, int node) {
    if (w.arrivalMicros == 0 && nodes.knowledge(node).clockKnown()) {
      // Once and for all: what is known of the clock changes with each answer, and whoever comes
      // with another arrival each time overtakes and is overtaken without end.
      w.arrivalMicros = Math.max(1, nodes.knowledge(node).estimateMicros(w.submittedNanos));
    }
    lineTimeoutMillis = w.terms.lineTimeoutMillis();
    if (!w.once) {
      stands |= 1L << node;
    }
    return new LockRequest.Line(process, w.arrivalMicros, lineTimeoutMillis, !w.once);
  }

  /** Its answer is of no interest: whoever was refused stands in line. */
  static final class Again extends Exchange {
    final long startNanos;

    Again(int door, long nowNanos) {
      startNanos = nowNanos;
      asked(1L << door);
    }
  }

  /**
   * A question that no node grants, for its token is out of every window: only to stand in line.
   */
  LockRequest.Acquire standAgain(Waiter w, int node, String leaseId) {
    return new LockRequest.Acquire(keys, leaseId, 1, w.terms.ttlMillis(), null, 0, stand(w, node));
  }

  /**
   * What to ask the door with in the round that follows its admission. We left the line with that:
   * who came before us and says so only now has to wait for the next turn, or the two of us would
   * undo each other.
   */
  LockRequest.Line admitted(Waiter w) {
    return new LockRequest.Line(process, 1, w.terms.lineTimeoutMillis(), false);
  }

  /** The node granted, and has taken us out of its line with that. */
  void granted(int node) {
    stands &= ~(1L << node);
  }

  /** Nobody of this process waits any more at these nodes. */
  void leave(long mask, long nowNanos) {
    long left = stands & mask;
    stands &= ~mask;
    if (left != 0) {
      LockRequest.Release goodbye =
          new LockRequest.Release(keys, random.leaseId(), 1, false, 0, process);
      cleanup.add(goodbye, left, lineTimeoutMillis * 1_000_000L, null, nowNanos);
    }
  }
}
