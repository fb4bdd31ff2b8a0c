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

/** Completes waits for a quorum of voting nodes; a close of the client fails them. */
@SuppressWarnings("CollectionUndefinedEquality") // Futures are told apart by their identity.
final class Readiness {
  private final BooleanSupplier quorumVotes;

  private final Set<CompletableFuture<Void>> waiting = ConcurrentHashMap.newKeySet();

  /** Written by {@link #close}, read by threads that begin to wait. */
  private volatile boolean closed;

  Readiness(BooleanSupplier quorumVotes) {
    this.quorumVotes = quorumVotes;
  }

  CompletableFuture<Void> ready(Executor callbacks) {
    CompletableFuture<Void> users = new CompletableFuture<>();
    CompletableFuture<Void> reached = new CompletableFuture<>();
    Results.relay(reached, users, callbacks);
    add(reached);
    var unused = users.whenComplete((done, failure) -> waiting.remove(reached)); // Given up.
    return users;
  }

  /** Does not use the callback executor, which may be busy. */
  boolean await(Duration timeout, Blocking blocking) {
    CompletableFuture<Void> reached = new CompletableFuture<>();
    add(reached);
    try {
      if (!blocking.await(reached, TimeUnit.NANOSECONDS.convert(timeout))) {
        Thread.currentThread().interrupt();
        throw new RedlockInterruptedException("a quorum of nodes that votes");
      }
      boolean done = reached.isDone(); // Read first: a close may come between the two.
      if (reached.isCompletedExceptionally()) {
        throw new RedlockClosedException();
      }
      return done;
    } finally {
      waiting.remove(reached);
    }
  }

  private void add(CompletableFuture<Void> waiter) {
    waiting.add(waiter);
    // Checked after the waiter was added: otherwise a node that votes now, or a close, is missed.
    if (closed) {
      waiting.forEach(Readiness::fail);
    } else {
      review();
    }
  }

  void review() {
    if (quorumVotes.getAsBoolean()) {
      for (CompletableFuture<Void> waiter : Set.copyOf(waiting)) {
        waiting.remove(waiter);
        waiter.complete(null);
      }
    }
  }

  void close() {
    closed = true;
    waiting.forEach(Readiness::fail);
  }

  private static void fail(CompletableFuture<Void> waiter) {
    waiter.completeExceptionally(new RedlockClosedException());
  }
}
