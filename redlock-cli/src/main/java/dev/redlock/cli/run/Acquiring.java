package dev.redlock.cli.run;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.look.Look;
import dev.redlock.internal.text.Printable;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.NodeState.State;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The way to the lease. A new process is connected to no node, and a missing quorum must not look
 * like a held lock: first wait for a quorum, then for the lock. The end of the start script ends
 * either: a caller that gives up sends a signal to it.
 *
 * @param connect how long nodes may take to connect
 * @param heldCode the exit code if another client holds the lock
 * @param talks whether a person reads what is printed
 */
record Acquiring(
    Redlock redlock,
    DistributedLock lock,
    Tree tree,
    Duration connect,
    int heldCode,
    boolean talks) {
  /** So long a person waits without a word. */
  private static final Duration SILENCE = Duration.ofSeconds(1);

  /** Between two looks at nodes that have nothing to wait for. */
  private static final Duration SECOND_LOOK = Duration.ofMillis(300);

  /** Between two looks after the script. */
  private static final Duration LOOK = Duration.ofMillis(50);

  private static final String WITHIN =
      "; REDLOCK_NAME says that this command was started under it, so that may be itself";

  private static final Duration FOR_EVER = Duration.ofDays(3650);

  /** Tries without waiting for a holder; null if the script has ended before. */
  @Nullable Lease once() throws InterruptedException {
    if (!awaitQuorum(connect)) {
      return null;
    }
    Optional<Lease> got = await(lock.tryAcquireAsync(), FOR_EVER);
    String within = runsWithin() ? WITHIN : "";
    String held = String.join(",", lock.names()) + ": another client holds it" + within;
    return got == null ? null : got.orElseThrow(() -> new Failure(heldCode, held));
  }

  /**
   * Waits for the lock, so long at most; without limit if null. A new process takes longer to
   * connect than some callers want to wait for a holder, so it has some time more. Null if the
   * script has ended before.
   */
  @Nullable Lease within(@Nullable Duration limit) throws InterruptedException {
    Duration all = limit == null ? FOR_EVER : limit.plus(connect);
    long begin = System.nanoTime();
    if (!awaitQuorum(all)) {
      return null;
    }
    Duration left = all.minusNanos(System.nanoTime() - begin);
    CompletableFuture<Lease> asked =
        lock.acquireAsync(limit == null || left.compareTo(limit) < 0 ? left : limit);
    if (talks || runsWithin()) {
      CompletableFuture.delayedExecutor(SILENCE.toMillis(), TimeUnit.MILLISECONDS)
          .execute(() -> sayHolder(asked));
    }
    return await(asked, FOR_EVER);
  }

  /** Whether a command that runs under one of the names has called this one. */
  private boolean runsWithin() {
    String outer = System.getenv("REDLOCK_NAME");
    return outer != null && !Collections.disjoint(lock.names(), List.of(outer.split(",")));
  }

  /** Says once who holds the lock, unless it comes before. */
  private void sayHolder(CompletableFuture<Lease> asked) {
    if (asked.isDone()) {
      return;
    }
    String within = runsWithin() ? WITHIN : "";
    for (String name : lock.names()) {
      redlock
          .operations()
          .inspect(name)
          .thenApply(Look::sentence)
          .thenAccept(
              found -> {
                if (!asked.isDone() && !found.endsWith(" is free")) {
                  RunCommand.say("waits: " + found + within);
                }
              });
    }
  }

  /**
   * Null if the script ends first, or after the limit. The client is then closed, and gives back
   * what came meanwhile.
   */
  private <T> @Nullable T await(CompletableFuture<T> asked, Duration limit)
      throws InterruptedException {
    long begin = System.nanoTime();
    while (tree.childRuns() && System.nanoTime() - begin < limit.toNanos()) {
      try {
        return asked.get(LOOK.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        // Looks after the script again.
      } catch (ExecutionException e) {
        throw failure(e.getCause());
      }
    }
    return null;
  }

  private RuntimeException failure(@Nullable Throwable cause) {
    if (cause instanceof LockTimeoutException late) {
      return new Failure(
          late.isHeld() ? heldCode : ExitCode.TOO_FEW_NODES, String.valueOf(late.getMessage()));
    }
    return cause instanceof RuntimeException unchecked
        ? unchecked
        : new IllegalStateException(cause);
  }

  /**
   * Waits until a quorum votes; false if the script ended first. A master that has restarted is
   * quarantined for the longest lease time; a caller with patience waits for it.
   */
  private boolean awaitQuorum(Duration limit) throws InterruptedException {
    long begin = System.nanoTime();
    CompletableFuture<Boolean> ready =
        redlock.operations().ready().toCompletableFuture().thenApply(unused -> true);
    Duration next = connect;
    boolean hopeless = false;
    while (await(ready, next) == null) {
      if (!tree.childRuns()) {
        return false;
      }
      List<NodeState> states = redlock.operations().nodes();
      long soon = states.stream().filter(Acquiring::votesSoon).count();
      boolean before = hopeless;
      hopeless = soon <= states.size() / 2;
      Duration left = limit.minusNanos(System.nanoTime() - begin);
      if (left.isNegative() || (hopeless && before)) {
        throw new Failure(ExitCode.TOO_FEW_NODES, "too few nodes: " + described(states));
      }
      if (talks && !hopeless) {
        RunCommand.say("waits for nodes: " + described(states));
      }
      next = Collections.min(List.of(left, hopeless ? SECOND_LOOK : connect));
    }
    return true;
  }

  /** A quarantine that tells no end may never end: the node contradicts this client. */
  private static boolean votesSoon(NodeState node) {
    return node.state() == State.VOTING
        || (node.state() == State.QUARANTINED && !node.remaining().isZero());
  }

  private static String described(List<NodeState> states) {
    return Look.together(
        states,
        NodeState::node,
        s ->
            s.state()
                + (s.remaining().isZero() ? "" : " for " + Printable.about(s.remaining()))
                + (s.cause().isEmpty() ? "" : " (" + Printable.of(Look.cause(s)) + ")"));
  }
}
