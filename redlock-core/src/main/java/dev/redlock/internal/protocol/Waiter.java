package dev.redlock.internal.protocol;

import dev.redlock.LockOptions;
import dev.redlock.spi.LockKeys;
import org.jspecify.annotations.Nullable;

/**
 * A caller that wants the lock. The shell and the simulator extend it with a way to notify the
 * caller. Confined to the actor of its {@link LockMachine}, except for the final fields.
 */
public abstract class Waiter {
  final LockKeys keys;
  final LockOptions options;
  final long submittedNanos;
  final long deadlineNanos;
  final boolean singleTry;

  /** How many rounds were started for it. */
  int rounds;

  /** The newest round for it that was refused; null if no round was. */
  @Nullable AcquireRound refusedBy;

  /** Fair mode: when it came, by the clock of the home node at that time; 0 if not known. */
  long arrivalMicros;

  /** How many callers of this process came before it. */
  long sequence;

  /**
   * @param submittedNanos when the caller came
   * @param deadlineNanos when it gives up
   * @param singleTry whether it does not wait: it is refused at once if a caller of this process
   *     holds the lock or waits for it, and otherwise if no quorum grants the lock
   */
  protected Waiter(
      LockKeys keys,
      LockOptions options,
      long submittedNanos,
      long deadlineNanos,
      boolean singleTry) {
    this.keys = keys;
    this.options = options;
    this.submittedNanos = submittedNanos;
    this.deadlineNanos = deadlineNanos;
    this.singleTry = singleTry;
  }

  /** The names that it wants. */
  public final LockKeys keys() {
    return keys;
  }

  /** How it wants it. */
  public final LockOptions options() {
    return options;
  }

  /** Whether it may be queued; false for a single try. */
  public final boolean waits() {
    return !singleTry;
  }

  /** When it came. */
  public final long submittedNanos() {
    return submittedNanos;
  }
}
