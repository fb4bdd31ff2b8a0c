package dev.redlock.examples.recipes;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.election.LeaderElection;
import dev.redlock.election.LeaderElection.StopReason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One member of a fleet that shares partitions of work. Each partition is worked on by one member
 * at a time. When a member stops, it hands its partitions over after their work has stopped; when
 * it dies, other members take them after the lease time.
 */
final class FleetMember implements AutoCloseable {
  /** One step of work. It shows the token to what it writes to. */
  interface Step {
    void run(int partition, Lease lease) throws Exception;
  }

  private final List<LeaderElection> elections = new ArrayList<>();

  /** Begins to compete for all partitions, from a different one on each member. */
  FleetMember(Redlock redlock, LockOptions options, int number, int partitions, Step step) {
    for (int i = 0; i < partitions; i++) {
      int partition = (number + i) % partitions;
      int index = i;
      Loop loop = new Loop(partition, step, () -> elections.get(index).resign());
      elections.add(
          LeaderElection.builder(redlock, "work:" + partition, loop).options(options).build());
    }
    elections.forEach(LeaderElection::start);
  }

  /** How many partitions this member works on. */
  long held() {
    return elections.stream().filter(election -> election.lease() != null).count();
  }

  /** Stops the work and hands all partitions over. */
  @Override
  public void close() {
    elections.stream().map(LeaderElection::stop).toList().stream()
        .map(CompletionStage::toCompletableFuture)
        .forEach(CompletableFuture::join);
  }

  /** The work of one partition: a thread that repeats the step while the lease is valid. */
  private static final class Loop implements LeaderElection.Work {
    private final int partition;
    private final Step step;
    private final Runnable failed;
    // Written by startWork, read by stopWork; the election calls them one after another.
    private @Nullable Thread thread;
    private CompletableFuture<Void> stopped = CompletableFuture.completedFuture(null);

    Loop(int partition, Step step, Runnable failed) {
      this.partition = partition;
      this.step = step;
      this.failed = failed;
    }

    @Override
    public synchronized CompletionStage<?> startWork(Lease lease) {
      CompletableFuture<Void> end = new CompletableFuture<>();
      Thread worker = new Thread(() -> work(lease, end), "partition " + partition);
      worker.setDaemon(true);
      thread = worker;
      stopped = end;
      worker.start();
      return CompletableFuture.completedFuture(null);
    }

    private void work(Lease lease, CompletableFuture<Void> end) {
      try {
        while (!Thread.currentThread().isInterrupted() && lease.isValid()) {
          step.run(partition, lease);
        }
      } catch (InterruptedException e) {
        // The election has told the work to stop.
      } catch (Exception e) {
        System.err.println("partition " + partition + ": " + e);
        failed.run(); // Another member takes over.
      } finally {
        end.complete(null);
      }
    }

    @Override
    public synchronized CompletionStage<?> stopWork(StopReason reason) {
      if (thread != null) {
        thread.interrupt();
      }
      return stopped; // The lock is released when the work has stopped.
    }
  }
}
