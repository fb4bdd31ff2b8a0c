package dev.redlock.election;

import dev.redlock.Lease;
import dev.redlock.RedlockInterruptedException;
import dev.redlock.election.LeaderElection.StopReason;
import dev.redlock.election.LeaderElection.Task;
import dev.redlock.election.LeaderElection.Work;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Work that is one blocking task: it runs on the thread that calls {@link #startWork}, and {@link
 * #stopWork} interrupts that thread. When the task returns by itself, the instance resigns.
 *
 * <p>For each tenure, the election calls each method once, on different threads, so either may come
 * first. It starts the next tenure after the stage of {@code stopWork} has completed.
 */
final class TaskWork implements Work {
  private final Task task;

  /** Set before the election starts. */
  private @Nullable LeaderElection election;

  // Guarded by this.
  private Phase phase = Phase.NONE;
  private @Nullable Thread runner;
  private CompletableFuture<Void> stopped = new CompletableFuture<>();

  /** How far the current tenure is. */
  private enum Phase {
    /** Neither started nor stopped. */
    NONE,
    /** Stopped before it started: the task must not run. */
    STOPPED_FIRST,
    RUNNING,
    /** Interrupted; the task has not ended yet. */
    STOPPING,
    /** The task ended by itself; the election has not stopped the tenure yet. */
    ENDED
  }

  TaskWork(Task task) {
    this.task = task;
  }

  void belongsTo(LeaderElection election) {
    this.election = election;
  }

  @Override
  public CompletionStage<?> startWork(Lease lease) {
    if (!begin()) {
      return CompletableFuture.completedFuture(null);
    }
    Throwable failure = null;
    try {
      task.run(lease);
    } catch (Throwable e) {
      failure = e;
    }
    boolean wasStopped = end();
    if (failure != null) {
      boolean expected =
          wasStopped
              && (failure instanceof InterruptedException
                  || failure instanceof RedlockInterruptedException);
      return expected
          ? CompletableFuture.completedFuture(null)
          : CompletableFuture.failedFuture(failure);
    }
    LeaderElection own = election;
    if (!wasStopped && own != null) {
      own.resign();
    }
    return CompletableFuture.completedFuture(null);
  }

  private synchronized boolean begin() {
    if (phase == Phase.STOPPED_FIRST) {
      isStopped();
      return false;
    }
    phase = Phase.RUNNING;
    runner = Thread.currentThread();
    return true;
  }

  /** The task has ended; returns whether it was told to. */
  private synchronized boolean end() {
    runner = null;
    Thread.interrupted(); // The thread belongs to an executor: no other task gets the interrupt.
    if (phase == Phase.STOPPING) {
      isStopped();
      return true;
    }
    phase = Phase.ENDED;
    return false;
  }

  private synchronized void isStopped() {
    phase = Phase.NONE;
    CompletableFuture<Void> now = stopped;
    stopped = new CompletableFuture<>();
    now.complete(null);
  }

  @Override
  public synchronized CompletionStage<?> stopWork(StopReason reason) {
    CompletableFuture<Void> whenStopped = stopped;
    switch (phase) {
      case NONE -> phase = Phase.STOPPED_FIRST;
      case RUNNING -> {
        phase = Phase.STOPPING;
        Thread running = runner;
        if (running != null) {
          running.interrupt();
        }
      }
      case ENDED -> isStopped();
      case STOPPED_FIRST, STOPPING -> {
        // The election stops each tenure once.
      }
    }
    return whenStopped;
  }
}
