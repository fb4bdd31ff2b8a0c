package dev.redlock.examples.demo;

/**
 * One critical section, as the worker reported it. Times are of the monotonic clock that all
 * processes of a host share.
 *
 * @param worker which process, from 1
 * @param token the fencing token; 0 without a lock
 * @param askedNanos when it asked for the lock
 * @param fromNanos when it had it
 * @param toNanos when it was about to give it back, or its validity ended
 */
record Sale(
    int worker, long token, long askedNanos, long fromNanos, long toNanos, Outcome outcome) {

  enum Outcome {
    SOLD,
    /** The shop refused the token of a holder whose lease was over. */
    REJECTED,
    /** The lease was over before anything was written. */
    LOST,
    /** The shop refused the token of a valid lease: two held the lock at once. */
    VIOLATION
  }

  static Sale of(int worker, Message message) {
    return new Sale(
        worker,
        message.number("token"),
        message.number("asked"),
        message.number("from"),
        message.number("to"),
        Outcome.valueOf(message.text("outcome")));
  }

  Message message() {
    return Message.of(
        "sale",
        "token",
        token,
        "asked",
        askedNanos,
        "from",
        fromNanos,
        "to",
        toNanos,
        "outcome",
        outcome);
  }

  long waitedNanos() {
    return fromNanos - askedNanos;
  }
}
