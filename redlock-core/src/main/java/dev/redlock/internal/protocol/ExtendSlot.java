package dev.redlock.internal.protocol;

import dev.redlock.spi.LockKeys;
import java.util.List;

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

  /** What it waits for, in the order of {@link ExtendQueue}. */
  enum Order {
    EXTENSION,
    /** An extension that may come too late. */
    LATE_EXTENSION,
    RELEASE
  }

  /** The names of the lock: whom to tell that the round may begin. */
  final LockKeys keys;

  final long timeoutNanos;

  private final long patienceNanos;

  State state = State.FREE;
  private Order order = Order.EXTENSION;
  private long sequence;
  private long urgentNanos;
  private long deadlineNanos;
  private long takenNanos;

  ExtendSlot(LockKeys keys, long nodeTimeoutNanos, long patienceNanos) {
    this.keys = keys;
    timeoutNanos = nodeTimeoutNanos;
    this.patienceNanos = patienceNanos;
  }

  void await(Order what, long urgent, long deadline, long number) {
    state = State.WAITING;
    order = what;
    urgentNanos = urgent;
    deadlineNanos = deadline;
    sequence = number;
  }

  void take(long nowNanos) {
    state = State.TAKEN;
    takenNanos = nowNanos;
  }

  boolean isRelease() {
    return order == Order.RELEASE;
  }

  boolean isTaken() {
    return state == State.TAKEN;
  }

  /** Whether it has no place in the queue, or a later one. */
  boolean wantsPlace(long urgent) {
    return state == State.FREE
        || (state == State.WAITING && order == Order.EXTENSION && urgentNanos - urgent > 0);
  }

  /** Whether it is among those in time, and its lease may end before a round of this time does. */
  boolean isTooLate(long roundNanos, long nowNanos) {
    long margin = Math.max(timeoutNanos, Math.min(roundNanos, patienceNanos / 2));
    return order == Order.EXTENSION && deadlineNanos - nowNanos <= margin;
  }

  /** It comes after those in time, and among the late ones the latest deadline comes first. */
  void comeLater() {
    order = Order.LATE_EXTENSION;
    urgentNanos = -deadlineNanos;
  }

  /** Whether it was taken so long ago that its round must have ended. */
  boolean isOverdue(long nowNanos) {
    return nowNanos - takenNanos > 2 * (isRelease() ? timeoutNanos : patienceNanos);
  }

  /** The other slots that are admitted now are told. */
  void tellOthers(List<ExtendSlot> admitted, List<Effect> effects) {
    for (ExtendSlot other : admitted) {
      if (other != this) {
        effects.add(new Effect.Admit(other.keys));
      }
    }
  }

  /** The most urgent first; among equals the one that came first. */
  static int inOrder(ExtendSlot a, ExtendSlot b) {
    if (a.order != b.order) {
      return a.order.compareTo(b.order);
    }
    long first = a.urgentNanos - b.urgentNanos; // overflow-safe, unlike a comparison of instants
    return first != 0 ? Long.signum(first) : Long.compare(a.sequence, b.sequence);
  }
}
