package dev.redlock.cli.run;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.look.Look;
import dev.redlock.internal.text.Printable;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.NodeState.State;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The way to the lease. A new process is connected to no node, and a missing quorum must not look
 * like a held lock: first wait for a quorum, then for the lock. A signal ends either.
 */
final class Acquiring {
  /** Connect, handshake and probe have 500 ms each. */
  private static final Duration TO_CONNECT = Duration.ofSeconds(3);

  /** So long a person waits without a word. */
  private static final Duration SILENCE = Duration.ofSeconds(1);

  /** Between two looks at nodes that have nothing to wait for. */
  private static final Duration SECOND_LOOK = Duration.ofMillis(300);

  private static final Duration FOR_EVER = Duration.ofDays(3650);

  private final Redlock redlock;
  private final DistributedLock lock;
  private final Signals signals;
  private final int heldCode;

  /** Whether a person reads what is printed. */
  private final boolean talks;

  Acquiring(Redlock redlock, DistributedLock lock, Signals signals, int heldCode, boolean talks) {
    this.redlock = redlock;
    this.lock = lock;
    this.signals = signals;
    this.heldCode = heldCode;
    this.talks = talks;
  }

  /** Tries without waiting for a holder; null if a signal came first. */
  @Nullable Lease once() throws InterruptedException {
    if (!awaitQuorum(TO_CONNECT, false)) {
      return null;
    }
    Optional<Lease> got = result(lock.tryAcquireAsync());
    return got == null ? null : got.orElseThrow(this::held);
  }

  /**
   * Waits for the lock, so long at most; without limit if null. The time begins when a quorum
   * votes: a new process takes longer to connect than some callers want to wait for a holder. Null
   * if a signal came first.
   */
  @Nullable Lease within(@Nullable Duration limit) throws InterruptedException {
    if (!awaitQuorum(TO_CONNECT, limit == null)) {
      return null;
    }
    CompletableFuture<Lease> asked = lock.acquireAsync(limit == null ? FOR_EVER : limit);
    if (talks) {
      sayHolderAfter(SILENCE, asked);
    }
    return result(asked);
  }

  /** Says once who holds the lock, unless it comes before. */
  private void sayHolderAfter(Duration silence, CompletableFuture<Lease> asked) {
    CompletableFuture.delayedExecutor(silence.toMillis(), TimeUnit.MILLISECONDS)
        .execute(() -> sayHolder(asked));
  }

  private void sayHolder(CompletableFuture<Lease> asked) {
    if (asked.isDone()) {
      return;
    }
    String name = lock.names().iterator().next();
    redlock
        .operations()
        .inspect(name)
        .thenAccept(
            found -> {
              if (!asked.isDone()) {
                RunCommand.say("waits: " + Look.sentence(found));
              }
            });
  }

  /** Null if a signal came first. Cancels the future of the lock itself, which then gives up. */
  private <T> @Nullable T result(CompletableFuture<T> asked) throws InterruptedException {
    signals.onFirst(() -> asked.cancel(true));
    try {
      return asked.get();
    } catch (CancellationException e) {
      return null;
    } catch (ExecutionException e) {
      throw failure(e.getCause());
    } finally {
      signals.onFirst(() -> {});
    }
  }

  private RuntimeException failure(@Nullable Throwable cause) {
    if (cause instanceof LockTimeoutException late) {
      return new Failure(
          late.isHeld() ? heldCode : ExitCode.TOO_FEW_NODES, String.valueOf(late.getMessage()));
    } else if (cause instanceof QuorumUnavailableException) {
      return new Failure(ExitCode.TOO_FEW_NODES, String.valueOf(cause.getMessage()));
    } else if (cause instanceof RuntimeException unchecked) {
      return unchecked;
    }
    return new IllegalStateException(cause);
  }

  private Failure held() {
    return new Failure(heldCode, String.join(",", lock.names()) + ": another client holds it");
  }

  /**
   * Waits until a quorum votes; false if a signal came first. A master that has restarted is
   * quarantined for the longest lease time; a caller with patience waits for it.
   */
  private boolean awaitQuorum(Duration limit, boolean patient) throws InterruptedException {
    CompletableFuture<Void> ready = redlock.operations().ready().toCompletableFuture().copy();
    signals.onFirst(() -> ready.cancel(true));
    Duration next = limit;
    boolean hopeless = false;
    while (true) {
      try {
        ready.get(next.toNanos(), TimeUnit.NANOSECONDS);
        return signals.first() == 0;
      } catch (CancellationException e) {
        return false;
      } catch (ExecutionException e) {
        throw failure(e.getCause());
      } catch (TimeoutException e) {
        List<NodeState> states = redlock.operations().nodes();
        long soon = states.stream().filter(Acquiring::votesSoon).count();
        boolean before = hopeless;
        hopeless = soon <= states.size() / 2;
        if (!patient || (hopeless && before)) {
          throw new Failure(ExitCode.TOO_FEW_NODES, "too few nodes: " + described(states));
        }
        if (talks && !hopeless) {
          RunCommand.say("waits for nodes: " + described(states));
        }
        next = hopeless ? SECOND_LOOK : TO_CONNECT;
      }
    }
  }

  /** A quarantine that tells no end may never end: the node contradicts this client. */
  private static boolean votesSoon(NodeState node) {
    return node.state() == State.VOTING
        || (node.state() == State.QUARANTINED && !node.remaining().isZero());
  }

  private static String described(List<NodeState> states) {
    return states.stream()
        .map(
            s ->
                s.node()
                    + " "
                    + s.state()
                    + (s.remaining().isZero() ? "" : " for " + s.remaining().toMillis() + " ms")
                    + (s.cause().isEmpty() ? "" : " (" + Printable.of(Look.cause(s)) + ")"))
        .collect(Collectors.joining(", "));
  }
}
