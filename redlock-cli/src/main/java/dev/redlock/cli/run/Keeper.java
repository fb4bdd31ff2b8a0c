package dev.redlock.cli.run;

import dev.redlock.Lease;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Holds the lease while the child runs, and ends the child before the validity of the lease ends.
 *
 * <p>The naive way waits for the notice that the lease has ended, and ends the child then. At that
 * moment another client may hold the lock, and the child still runs: for as long as it ignores
 * TERM. So the keeper watches the remaining validity, on a thread that does nothing else. It sends
 * TERM when grace and margin are left, and KILL when the margin is left. Both decisions are
 * latched: if an extension succeeds after TERM, the child ends all the same, and not later than it
 * was told.
 *
 * <p>A look at all processes takes seconds on a busy machine, and a pipe may be full. So KILL waits
 * for neither: looks and notices have threads of their own. What a look finds after KILL gets it at
 * once, until looks find nothing any more.
 *
 * <p>If the lease ends earlier, because an operator broke the lock or nodes forgot it, another
 * client may hold the lock already: the keeper sends KILL at once.
 */
final class Keeper {
  /** The lock is free so long after the child at most. */
  private static final Duration LOOK = Duration.ofMillis(20);

  private static final Duration REPEAT = Duration.ofMillis(10);

  /**
   * For the notice of a loss. What it writes to may be a pipe that is full, or a file that hangs.
   */
  private static final Duration NOTICE = Duration.ofMillis(50);

  /** What KILL has not ended by then is said. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /**
   * So many looks in turn must find nothing. While one look lists the processes, the last one of
   * the tree may start another one and end: the list has neither.
   */
  private static final int QUIET_LOOKS = 3;

  private final Lease lease;
  private final Tree tree;
  private final Duration grace;
  private final Duration margin;

  /** Written by the thread that sends KILL, read by the one that looks. */
  private volatile boolean killing;

  Keeper(Lease lease, Tree tree, Duration grace, Duration margin) {
    this.lease = lease;
    this.tree = tree;
    this.grace = grace;
    this.margin = margin;
  }

  /**
   * Waits for the end of the child. Returns false if the lock was lost before; then all that the
   * child had started is gone, too.
   *
   * @param onLoss is called before the child is ended
   * @param onSurvivors is told which processes KILL does not end; the wait goes on
   */
  boolean await(Runnable onLoss, Consumer<List<ProcessHandle>> onSurvivors)
      throws InterruptedException {
    // The first look loads classes and reads all processes. When the lock is lost it must be fast.
    FutureTask<?> unused = aside(tree::look);
    while (tree.childRuns()) {
      Duration left = lease.remainingValidity().minus(grace).minus(margin);
      if (left.isNegative() || left.isZero()) {
        end(onLoss, onSurvivors);
        return false;
      }
      Thread.sleep(Math.min(left.toMillis() + 1, LOOK.toMillis()));
    }
    return true;
  }

  private void end(Runnable onLoss, Consumer<List<ProcessHandle>> onSurvivors)
      throws InterruptedException {
    long killAtNanos = System.nanoTime() + lease.remainingValidity().minus(margin).toNanos();
    isDone(aside(onLoss), NOTICE);
    tree.running().forEach(ProcessHandle::destroy);
    FutureTask<?> looks = aside(this::lookUntilQuiet);
    while (System.nanoTime() - killAtNanos < 0 && lease.isValid()) {
      if (isDone(looks, REPEAT)) {
        return;
      }
    }
    killing = true;
    long sinceNanos = System.nanoTime();
    Set<ProcessHandle> told = new HashSet<>();
    Duration pause = REPEAT;
    do {
      List<ProcessHandle> left = tree.running();
      left.forEach(ProcessHandle::destroyForcibly);
      boolean late = System.nanoTime() - sinceNanos >= PATIENCE.toNanos();
      // Once, also where each of them starts others all the time.
      if (late && !left.isEmpty() && Collections.disjoint(told, left)) {
        told.addAll(left);
        onSurvivors.accept(left);
        pause = LOOK.multipliedBy(10);
      }
    } while (!isDone(looks, pause));
  }

  /** A process may have started another one, at TERM or while KILL was on its way. */
  private void lookUntilQuiet() {
    int quiet = 0;
    while (quiet < QUIET_LOOKS) {
      for (ProcessHandle process : tree.look()) {
        boolean unused = killing ? process.destroyForcibly() : process.destroy();
      }
      quiet = tree.running().isEmpty() ? quiet + 1 : 0;
      LockSupport.parkNanos(REPEAT.toNanos());
    }
  }

  private static FutureTask<?> aside(Runnable task) {
    FutureTask<?> all = new FutureTask<>(task, null);
    Thread thread = new Thread(all, "redlock-aside");
    thread.setDaemon(true);
    thread.start();
    return all;
  }

  /** Waits so long at most. A task that failed is a defect, and not done. */
  private static boolean isDone(FutureTask<?> task, Duration limit) throws InterruptedException {
    try {
      task.get(limit.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }
}
