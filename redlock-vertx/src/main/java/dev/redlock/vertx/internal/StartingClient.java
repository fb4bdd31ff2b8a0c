package dev.redlock.vertx.internal;

import static dev.redlock.vertx.internal.Log.log;

import dev.redlock.Redlock;
import io.vertx.core.Context;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The client of the core, which is built on the {@link ColdThread}. Building and the first call
 * load many classes. So calls run on that thread until the first of them is answered, and on the
 * calling thread, an event loop, after that.
 */
final class StartingClient {
  private final CompletableFuture<Clients.Built> building;
  private final ColdThread cold;

  /**
   * The client, once its first call was answered: its classes are loaded. Written by the cold
   * thread, read by every call.
   */
  private volatile @Nullable Redlock warm;

  StartingClient(CompletableFuture<Clients.Built> building, ColdThread cold) {
    this.building = building;
    this.cold = cold;
    building.exceptionally(
        failure -> {
          log.error(
              "the lock client could not be built; all its calls fail",
              DefaultVertxRedlock.cause(failure));
          return null;
        });
  }

  boolean isWarm() {
    return warm != null;
  }

  /** Completes when the first quorum of nodes votes. */
  CompletionStage<Void> ready() {
    return building.thenComposeAsync(built -> built.redlock().operations().ready(), cold);
  }

  /**
   * Asks at once, or on the cold thread when the client is built.
   *
   * @param unwanted takes an answer that came although the future was cancelled
   */
  <A> CompletableFuture<A> ask(
      Function<Redlock, CompletableFuture<A>> question, Consumer<A> unwanted) {
    Redlock client = warm;
    if (client != null) {
      return question.apply(client);
    }
    CompletableFuture<A> asked = new CompletableFuture<>();
    building.whenCompleteAsync(
        (built, failure) -> {
          if (failure != null) {
            asked.completeExceptionally(failure);
          } else if (!asked.isDone()) {
            try {
              pass(question.apply(built.redlock()), asked, unwanted);
            } catch (RuntimeException e) {
              asked.completeExceptionally(e);
            }
          }
        },
        cold);
    return asked;
  }

  /** Passes the answer on, and a cancellation back. */
  private <A> void pass(
      CompletableFuture<A> inner, CompletableFuture<A> asked, Consumer<A> unwanted) {
    inner.whenComplete(
        (result, failure) -> {
          if (failure != null) {
            asked.completeExceptionally(failure);
          } else {
            cold.execute(() -> warm = building.join().redlock());
            if (!asked.complete(result)) {
              unwanted.accept(result);
            }
          }
        });
    asked.whenComplete(
        (result, failure) -> {
          if (asked.isCancelled()) {
            inner.cancel(false);
          }
        });
  }

  /** The client itself. An event loop gets it only when it is built. */
  Redlock redlock() {
    if (!building.isDone() && Context.isOnEventLoopThread()) {
      throw new IllegalStateException(
          "the client is being built, and an event loop must not wait for it: use ready()");
    }
    try {
      return building.join().redlock();
    } catch (CompletionException e) {
      throw DefaultVertxRedlock.cause(e) instanceof RuntimeException failure ? failure : e;
    }
  }

  /** The client itself; empty while it is being built, or if that failed. */
  Optional<Redlock> built() {
    return building.isDone() && !building.isCompletedExceptionally()
        ? Optional.of(building.join().redlock())
        : Optional.empty();
  }

  /**
   * Runs the task on a thread that may load classes and block for a moment, when the client is
   * built.
   */
  <T> CompletableFuture<T> whenBuilt(Function<Redlock, T> task) {
    return building.thenApplyAsync(built -> task.apply(built.redlock()), cold);
  }

  /** Closes the client when it is built, unless it is the user's; then runs the task. */
  void close(Duration grace, Runnable then) {
    building.whenComplete(
        (built, failure) -> {
          LoopTime own = failure == null ? built.time() : null;
          if (own == null) {
            then.run();
          } else {
            // close() blocks until holders and nodes have finished, so it must not run on an event
            // loop.
            ColdThread.daemon(() -> close(built.redlock(), grace, own, then), "redlock-vertx-close")
                .start();
          }
        });
  }

  /** Leases and elections that were made through {@link #redlock} may finish too. */
  private static void close(Redlock redlock, Duration grace, LoopTime own, Runnable then) {
    try {
      redlock.close(grace);
    } finally {
      then.run();
      own.close();
    }
  }
}
