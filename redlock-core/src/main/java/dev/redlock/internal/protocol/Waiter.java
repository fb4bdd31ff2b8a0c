package dev.redlock.internal.protocol;

import dev.redlock.spi.LockKeys;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who wants the lock. The shell and the simulator extend it with a way to tell them.
 * Confined to the serial queue of its {@link LockMachine}, but for the final fields.
 */
public abstract class Waiter {
  final LockKeys keys;
  final Terms terms;
  final long submittedNanos;
  final long deadlineNanos;
  final boolean once;

  int attempts;

  /** Fair mode: when it came, in the time of the node that was the door then; 0 if not known. */
  long arrivalMicros;

  boolean queued;
  long sequence;
  @Nullable Waiter before;
  @Nullable Waiter after;

  /**
   * @param submittedNanos when the caller came
   * @param deadlineNanos when it leaves
   * @param once whether it tries once only, and is refused while anybody of this process holds or
   *     waits
   */
  protected Waiter(
      LockKeys keys, Terms terms, long submittedNanos, long deadlineNanos, boolean once) {
    this.keys = keys;
    this.terms = terms;
    this.submittedNanos = submittedNanos;
    this.deadlineNanos = deadlineNanos;
    this.once = once;
  }

  /** What it wants. */
  public final LockKeys keys() {
    return keys;
  }

  /** On which terms. */
  public final Terms terms() {
    return terms;
  }

  /** When it came. */
  public final long submittedNanos() {
    return submittedNanos;
  }
}
