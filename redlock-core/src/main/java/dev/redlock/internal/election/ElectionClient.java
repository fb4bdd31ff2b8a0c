package dev.redlock.internal.election;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.spi.Time;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The port of an election to the client whose locks, clock and threads it uses. */
public interface ElectionClient {
  /** The lock of the election. */
  DistributedLock lock(String name, LockOptions options);

  /** The clock and timers of the client; closed with the client. */
  Time time();

  /** Runs a short task after this time, also if the client is closed. */
  void runLater(Runnable task, long nanos);

  /** The executor that was given, backed by threads of the client; those threads if it is null. */
  Executor executor(@Nullable Executor given);

  /** Whether the client is closed, or is closing. */
  boolean isClosed();

  /**
   * Calls the taker when the lease ends, at once if it has ended. Unlike dependents of {@link
   * Lease#whenEnded()}, the taker never waits behind user code. It neither blocks nor throws.
   */
  void onEnd(Lease lease, Consumer<LeaseEnd> taker);

  /** Waits until the stage completes or the time has passed; keeps the thread's interrupt flag. */
  void await(CompletionStage<?> stage, long nanos);

  /** Logs what foreign code threw, once per kind. */
  void report(String kind, String election, Throwable failure);
}
