package dev.redlock.vertx.internal;

import static dev.redlock.vertx.internal.Log.log;

import dev.redlock.Lease;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The waiting calls, the leases and the elections of one deployed verticle, or of Vert.x outside
 * any verticle.
 *
 * <p>It closes in this order. Waiting calls are cancelled, and leases without a known end of their
 * work are released: their verticle has stopped. Elections stop their work first. The body of a
 * {@code withLock} may still run, for example in {@code executeBlocking}; its lease is kept until
 * the body has ended, for the grace at most. If the lease were released at once, another client
 * could work at the same time.
 */
final class Scope {
  private final @Nullable String deploymentId;
  private final Executor worker;
  private final long graceMillis;
  private final Runnable onClosed;
  private final Inside.Hook hook = new Inside.Hook(this::close);
  private final Set<Runnable> asked = ConcurrentHashMap.newKeySet();
  private final Set<Held> held = ConcurrentHashMap.newKeySet();
  private final Set<Supplier<CompletionStage<Void>>> elections = ConcurrentHashMap.newKeySet();

  /**
   * A lease, whether it ends with a body that runs under it, and the flag that tells its user that
   * the scope released it.
   */
  private record Held(Supplier<@Nullable Lease> lease, boolean ofBody, AtomicBoolean takenAway) {
    CompletableFuture<?> release() {
      Lease own = lease.get();
      if (own == null) {
        return CompletableFuture.completedFuture(null);
      }
      takenAway.set(own.isValid());
      return own.releaseAsync().toCompletableFuture();
    }
  }

  /** Set once when the owner closes. */
  private final AtomicBoolean closing = new AtomicBoolean();

  /**
   * Written once when the owner closes; read after each addition. So either close sees the
   * addition, or the addition sees this flag.
   */
  private volatile boolean closed;

  /** Completes when nothing of this scope is left. */
  private final CompletableFuture<Void> gone = new CompletableFuture<>();

  /**
   * @param worker cancels and releases when the owner closes: thousands of calls would keep its
   *     event loop for too long
   * @param graceMillis how long bodies may still run
   */
  Scope(@Nullable String deploymentId, Executor worker, long graceMillis, Runnable onClosed) {
    this.deploymentId = deploymentId;
    this.worker = worker;
    this.graceMillis = graceMillis;
    this.onClosed = onClosed;
  }

  @Nullable String deploymentId() {
    return deploymentId;
  }

  /** The hook that closes this scope. */
  Inside.Hook hook() {
    return hook;
  }

  boolean isClosed() {
    return closed;
  }

  int waiting() {
    return asked.size();
  }

  /** Remembers how to cancel a waiting call, until it is {@linkplain #answered}. */
  void ask(Runnable giveUp) {
    asked.add(giveUp);
    if (closed) {
      giveUp.run();
    }
  }

  void answered(Runnable giveUp) {
    asked.remove(giveUp);
  }

  /** Remembers how to stop an election. */
  void elect(Supplier<CompletionStage<Void>> stop) {
    elections.add(stop);
    if (closed) {
      CompletionStage<Void> unused = stop.get(); // The election reports its own failures.
    }
  }

  /**
   * Remembers a lease until it ends. If the owner has closed, releases the lease and returns false.
   */
  boolean hold(DefaultVertxLease granted, boolean ofBody) {
    Lease lease = granted.unwrap();
    // A verticle's lease lives until the verticle is undeployed, even if the verticle drops the
    // object. Outside a verticle a strong reference would never end, so a weak one keeps the core's
    // leak detection working.
    Held handle =
        new Held(
            deploymentId != null ? () -> lease : new WeakReference<>(lease)::get,
            ofBody,
            granted.takenAway());
    held.add(handle);
    if (closed && held.remove(handle)) {
      handle.release();
      return false;
    }
    lease.whenEnded().thenRun(() -> held.remove(handle));
    return true;
  }

  /** Completes when nothing of this scope is left. Never fails. */
  CompletableFuture<Void> close() {
    if (closing.compareAndSet(false, true)) {
      closed = true;
      if (asked.isEmpty() && held.isEmpty() && elections.isEmpty()) {
        ended();
      } else {
        worker.execute(this::end);
      }
    }
    return gone;
  }

  private void ended() {
    onClosed.run();
    gone.complete(null);
  }

  private void end() {
    List.copyOf(asked).forEach(Runnable::run);
    List<CompletableFuture<?>> stops = new ArrayList<>();
    elections.forEach(stop -> stops.add(stop.get().toCompletableFuture()));
    List<CompletableFuture<?>> bodies = new ArrayList<>();
    for (Held handle : List.copyOf(held)) {
      Lease lease = handle.ofBody() ? handle.lease().get() : null;
      if (lease != null) {
        bodies.add(lease.whenEnded().toCompletableFuture());
      } else if (held.remove(handle)) {
        stops.add(handle.release());
      }
    }
    if (bodies.isEmpty()) {
      releaseRest(stops);
    } else {
      // A thread and no timer: Vert.x may be closing, and a wrapped client has no timers here.
      ColdThread.daemon(
              () -> {
                awaitBodies(all(bodies));
                releaseRest(stops);
              },
              "redlock-vertx-close")
          .start();
    }
  }

  private void awaitBodies(CompletableFuture<Void> bodies) {
    try {
      bodies.get(graceMillis, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      log.warn(
          "bodies of withLock still run after {} ms; the client releases their leases, because {}:"
              + " {}",
          graceMillis,
          deploymentId == null
              ? "it closes"
              : "verticle " + deploymentId + " was undeployed or the client closes",
          held.stream().map(handle -> String.valueOf(handle.lease().get())).toList());
    } catch (InterruptedException | ExecutionException e) {
      log.debug("the wait for bodies ended early", e);
    }
  }

  private void releaseRest(List<CompletableFuture<?>> stops) {
    List<CompletableFuture<?>> all = new ArrayList<>(stops);
    for (Held handle : List.copyOf(held)) {
      if (held.remove(handle)) {
        all.add(handle.release());
      }
    }
    // The client repeats an unconfirmed release in the background; it must not fail an
    // undeployment.
    all(all).whenComplete((done, failure) -> ended());
  }

  private static CompletableFuture<Void> all(List<CompletableFuture<?>> futures) {
    return CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new));
  }
}
