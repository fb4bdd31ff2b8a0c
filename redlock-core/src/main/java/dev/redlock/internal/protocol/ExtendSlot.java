package dev.redlock.internal.protocol;

import dev.redlock.spi.LockKeys;

/**
 * The place of one grant among the extensions of its client; see {@link ExtendQueue}, which owns
 * all fields that change.
 */
public final class ExtendSlot {
  /** What the grant has, or waits for. */
  enum State {
    /** The grant has no round under way, and wants none. */
    FREE,
    WAITING,
    /** A round may begin, or is under way. */
    TAKEN
  }

  /** The names of the lock: whom to tell that the round may begin. */
  final LockKeys keys;

  final long timeoutNanos;

  State state = State.FREE;
  private long sequence;
  private long urgentNanos;
  private long deadlineNanos;
  private long takenNanos;

  ExtendSlot(LockKeys keys, long nodeTimeoutNanos) {
    this.keys = keys;
    timeoutNanos = nodeTimeoutNanos;
  }

  void await(long urgent, long deadline, long number) {
    state = State.WAITING;
    urgentNanos = urgent;
    deadlineNanos = deadline;
    sequence = number;
  }

  void take(long nowNanos) {
    state = State.TAKEN;
    takenNanos = nowNanos;
  }

  long urgentNanos() {
    return urgentNanos;
  }

  /** Whether it wants a round earlier than its lease needs one. */
  boolean isEarly() {
    return urgentNanos - deadlineNanos < 0;
  }

  /** Whether the lease ends before a round of this length does. */
  boolean isTooLateFor(long roundNanos, long nowNanos) {
    return deadlineNanos - nowNanos <= roundNanos;
  }

  /** Whether it was taken so long ago that its round must have ended. */
  boolean isOverdue(long nowNanos) {
    return nowNanos - takenNanos > 2 * timeoutNanos;
  }

  /** The most urgent first; among equals the one that came first. */
  static int inOrder(ExtendSlot a, ExtendSlot b) {
    long first = a.urgentNanos - b.urgentNanos; // overflow-safe, unlike a comparison of instants
    return first != 0 ? Long.signum(first) : Long.compare(a.sequence, b.sequence);
  }
}
