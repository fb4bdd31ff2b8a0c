package dev.redlock.internal.election;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.spi.Time;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What an election needs of its client beside the public locks: timers, threads, ends of leases.
 */
public interface ElectionClient {
  /**
   * Runs a short task after this time. The timers of a client end with it. Once the client is
   * closing, the task runs without them, and cannot be cancelled.
   */
  Time.Cancellable schedule(Runnable task, long nanos);

  /** The executor that was given, backed by threads of the client; those threads if it is null. */
  Executor executor(@Nullable Executor given);

  /** Whether the client is closed, or is closing. */
  boolean isClosed();

  /**
   * Calls the taker when the lease ends, at once if it has ended. Unlike dependents of {@link
   * Lease#whenEnded()}, the taker never waits behind user code, unless the user has decorated the
   * lease itself. It neither blocks nor throws.
   */
  void onEnd(Lease lease, Consumer<LeaseEnd> taker);

  /**
   * Calls the task when the client begins to close with a grace period, at once if it has begun;
   * perhaps twice. The task neither blocks nor throws.
   */
  void onClosing(Lease lease, Runnable task);

  /** Waits until the stage completes or the time has passed; keeps the thread's interrupt flag. */
  void await(CompletionStage<?> stage, long nanos);

  /**
   * Logs the line as a warning or an information. If many of one kind come at once, logs only their
   * number.
   *
   * @param kind what the line is about, in the plural; there is a bounded number of kinds
   */
  void log(boolean warning, String kind, Supplier<String> line);

  /** Logs what foreign code threw, once per kind. */
  void report(String kind, String election, Throwable failure);
}
