package dev.redlock.examples.demo;

/**
 * One critical section, as the worker reported it. Times are from the monotonic clock that all
 * processes of a host share.
 *
 * @param worker the number of the process, from 1
 * @param token the fencing token; 0 without a lock
 * @param askedNanos when it requested the lock
 * @param fromNanos when it was granted the lock
 * @param toNanos when it started to release the lock, or its validity ended
 */
record Sale(
    int worker, long token, long askedNanos, long fromNanos, long toNanos, Outcome outcome) {

  enum Outcome {
    SOLD,
    /** The shop rejected the token of a holder whose lease had ended. */
    REJECTED,
    /** The lease ended before the worker wrote. */
    LOST,
    /** The shop rejected the token of a valid lease: two workers held the lock at the same time. */
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
