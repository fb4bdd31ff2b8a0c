package dev.redlock.internal;

/**
 * What a closing client still has to free. Waits for as long as nodes get on with it: connections
 * that are cut with releases behind acquires would leave locks until their time to live. A node
 * that has stopped answering is waited for no longer than the node timeout.
 */
final class Drain {
  private static final long LOOK_NANOS = 1_000_000;

  private final Client client;
  private final long untilNanos;
  private final long patienceNanos;
  private final Completion<Boolean> done = new Completion<>();

  // Touched by the timer only, once it runs.
  private int owed;
  private long lastProgressNanos;

  Drain(Client client, long mostNanos) {
    this.client = client;
    long now = client.time().nanos();
    untilNanos = now + mostNanos;
    patienceNanos = client.defaultOptions().nodeTimeout().toNanos();
    owed = client.cleanups().total();
    lastProgressNanos = now;
  }

  /** Returns when all is freed, or nothing gets on any more. */
  void await() {
    long most = untilNanos - client.time().nanos();
    look();
    Blocking.awaitUninterruptibly(done, most, client.time());
  }

  private void look() {
    long now = client.time().nanos();
    int owedNow = client.cleanups().total();
    if (owedNow < owed) {
      lastProgressNanos = now;
    }
    owed = owedNow;
    if (client.locks().size() == 0
        || now - lastProgressNanos >= patienceNanos
        || untilNanos - now <= 0) {
      done.succeed(true);
    } else {
      client.time().schedule(this::look, LOOK_NANOS);
    }
  }
}
