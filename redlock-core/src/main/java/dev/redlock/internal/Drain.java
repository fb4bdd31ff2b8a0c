package dev.redlock.internal;

/**
 * Waits until a closing client has released what it can. It waits while nodes confirm releases: if
 * connections were cut with releases behind acquires, locks would stay taken until they expire. It
 * waits for a node that no longer replies for 500 ms at most, or for the node timeout if that is
 * longer.
 */
final class Drain {
  static final long LIMIT_NANOS = 5_000_000_000L;
  static final long CHECK_NANOS = 10_000_000;
  private static final long MIN_PATIENCE_NANOS = 500_000_000;

  private final ClientContext context;
  private final long beginNanos;
  private final long patienceNanos;

  Drain(ClientContext context) {
    this.context = context;
    beginNanos = context.time.nanos();
    patienceNanos = Math.max(MIN_PATIENCE_NANOS, context.nodeTimeoutNanos);
  }

  /** Returns when all is released, or no node confirms releases any more. */
  void await() {
    // Checks the nodes now and then, and sets no timer: this may be the thread of the timers.
    while (!isOver()) {
      context.blocking.awaitUninterruptibly(context.locks.emptied(), CHECK_NANOS);
    }
  }

  private boolean isOver() {
    long now = context.time.nanos();
    long passed = now - beginNanos;
    return context.locks.emptied().isDone()
        || passed >= LIMIT_NANOS
        || (passed >= patienceNanos && !anyNodeConfirms(now));
  }

  private boolean anyNodeConfirms(long now) {
    for (int i = 0; i < context.nodes.count(); i++) {
      if (context.nodes.releasesPending(i) > 0
          && now - context.nodes.knowledge(i).heardNanos() < patienceNanos) {
        return true;
      }
    }
    return false;
  }
}
