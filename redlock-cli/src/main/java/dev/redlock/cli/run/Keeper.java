package dev.redlock.cli.run;

import dev.redlock.Lease;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
 * <p>If the lease ends earlier, because an operator broke the lock or nodes forgot it, another
 * client may hold the lock already: the keeper sends KILL at once.
 */
final class Keeper {
  /** The lock is free so long after the child at most. */
  private static final Duration LOOK = Duration.ofMillis(20);

  private static final Duration REPEAT = Duration.ofMillis(10);

  /** So long before KILL the keeper no longer looks. */
  private static final Duration SOON = Duration.ofMillis(200);

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
    List<ProcessHandle> unused = tree.look();
    while (tree.childRuns()) {
      Duration left = lease.remainingValidity().minus(grace).minus(margin);
      if (left.isNegative() || left.isZero()) {
        onLoss.run();
        end(onSurvivors);
        return false;
      }
      Thread.sleep(Math.min(left.toMillis() + 1, LOOK.toMillis()));
    }
    return true;
  }

  private void end(Consumer<List<ProcessHandle>> onSurvivors) throws InterruptedException {
    long killAtNanos = System.nanoTime() + lease.remainingValidity().minus(margin).toNanos();
    long firstKillNanos = 0;
    boolean killed = false;
    Set<ProcessHandle> told = new HashSet<>();
    Duration pause = REPEAT;
    List<ProcessHandle> left = tree.look();
    left.forEach(ProcessHandle::destroy);
    int quiet = 0;
    while (quiet < QUIET_LOOKS) {
      long now = System.nanoTime();
      if (now - killAtNanos >= 0 || !lease.isValid()) {
        left.forEach(ProcessHandle::destroyForcibly);
        firstKillNanos = killed ? firstKillNanos : now;
        killed = true;
      }
      boolean late = killed && now - firstKillNanos >= PATIENCE.toNanos();
      if (late && !left.isEmpty() && told.addAll(left)) {
        onSurvivors.accept(left);
        pause = LOOK.multipliedBy(10);
      }
      Thread.sleep(pause.toMillis());
      // Again: a process may have started another one. On a busy machine a look takes a while, and
      // KILL must not wait.
      boolean soon = killAtNanos - now > 0 && killAtNanos - now < SOON.toNanos();
      left = soon ? tree.running() : tree.look();
      quiet = left.isEmpty() && !soon ? quiet + 1 : 0;
    }
  }
}
