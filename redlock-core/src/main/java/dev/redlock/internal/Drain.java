package dev.redlock.internal;

/**
 * What a closing client still has to free. Waits for as long as nodes get on with it: connections
 * that are cut with releases behind acquires would leave locks until their time to live. A node
 * that has stopped answering is waited for no longer than half a second, or the node timeout if
 * that is longer.
 */
final class Drain {
  private static final long LOOK_NANOS = 1_000_000;
  private static final long LEAST_PATIENCE_NANOS = 500_000_000;
  private static final long MOST_NANOS = 5_000_000_000L;

  private final Client client;
  private final long beginNanos;
  private final long patienceNanos;
  private final Completion<Boolean> done = new Completion<>();

  Drain(Client client) {
    this.client = client;
    beginNanos = client.time().nanos();
    patienceNanos = Math.max(LEAST_PATIENCE_NANOS, client.defaultOptions().nodeTimeout().toNanos());
  }

  /** Returns when all is freed, or nothing gets on any more. */
  void await() {
    look();
    Blocking.awaitUninterruptibly(done, MOST_NANOS, client.time());
  }

  private void look() {
    long now = client.time().nanos();
    long passed = now - beginNanos;
    if (client.locks().size() == 0
        || passed >= MOST_NANOS
        || (passed >= patienceNanos && !anybodyGetsOn(now))) {
      done.succeed(true);
    } else {
      client.time().schedule(this::look, LOOK_NANOS);
    }
  }

  private boolean anybodyGetsOn(long now) {
    for (int i = 0; i < client.nodeSet().count(); i++) {
      if (client.cleanups().of(i) > 0
          && now - client.nodeSet().knowledge(i).heardNanos() < patienceNanos) {
        return true;
      }
    }
    return false;
  }
}
