package dev.redlock.internal;

import dev.redlock.RedlockClosedException;
import dev.redlock.RedlockInterruptedException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Completes waits for a quorum of voting nodes; a close of the client fails them. */
final class Readiness {
  private final BooleanSupplier quorumVotes;

  // Each takes null once a quorum votes, or the failure. The thread that removes one calls it.
  private final Set<Consumer<@Nullable RedlockClosedException>> waiting =
      ConcurrentHashMap.newKeySet();

  /** Written by {@link #close}, read by threads that begin to wait. */
  private volatile boolean closed;

  Readiness(BooleanSupplier quorumVotes) {
    this.quorumVotes = quorumVotes;
  }

  CompletableFuture<Void> ready(Executor callbacks) {
    CompletableFuture<Void> result = new CompletableFuture<>();
    Consumer<@Nullable RedlockClosedException> waiter =
        failure ->
            callbacks.execute(
                () -> {
                  if (failure != null) {
                    result.completeExceptionally(failure);
                  } else {
                    result.complete(null);
                  }
                });
    add(waiter);
    var unused = result.whenComplete((done, failure) -> waiting.remove(waiter)); // Given up.
    return result;
  }

  /** Does not use the callback executor, which may be busy. */
  boolean await(Duration timeout, Blocking blocking) {
    Completion<Boolean> reached = new Completion<>();
    Consumer<@Nullable RedlockClosedException> waiter =
        failure -> {
          var unused = failure == null ? reached.succeed(true) : reached.fail(failure);
        };
    add(waiter);
    try {
      if (!blocking.await(reached, TimeUnit.NANOSECONDS.convert(timeout))) {
        Thread.currentThread().interrupt();
        throw new RedlockInterruptedException("a quorum of nodes that votes");
      }
      return reached.isDone() && reached.result();
    } finally {
      waiting.remove(waiter);
    }
  }

  private void add(Consumer<@Nullable RedlockClosedException> waiter) {
    waiting.add(waiter);
    // Checked after the waiter was added: otherwise a node that votes now, or a close, is missed.
    if (closed) {
      complete(new RedlockClosedException());
    } else {
      review();
    }
  }

  /** The state of a node has changed. */
  void review() {
    if (quorumVotes.getAsBoolean()) {
      complete(null);
    }
  }

  void close() {
    closed = true;
    complete(new RedlockClosedException());
  }

  private void complete(@Nullable RedlockClosedException failure) {
    for (Consumer<@Nullable RedlockClosedException> waiter : Set.copyOf(waiting)) {
      if (waiting.remove(waiter)) {
        waiter.accept(failure);
      }
    }
  }
}
