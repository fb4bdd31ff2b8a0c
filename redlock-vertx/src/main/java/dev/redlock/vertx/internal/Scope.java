package dev.redlock.vertx.internal;

import dev.redlock.Lease;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The waiting calls and the leases of one deployed verticle, or of Vert.x outside any verticle. */
final class Scope {
  private final @Nullable String deploymentId;
  private final Executor worker;
  private final Runnable onClosed;
  private final Inside.Hook hook = new Inside.Hook(this::close);
  private final Set<Runnable> asked = ConcurrentHashMap.newKeySet();
  private final Set<Held> held = ConcurrentHashMap.newKeySet();

  /** A lease, and the flag that tells its user that the scope released it. */
  private record Held(Supplier<@Nullable Lease> lease, AtomicBoolean takenAway) {
    CompletableFuture<?> release() {
      Lease own = lease.get();
      if (own == null) {
        return CompletableFuture.completedFuture(null);
      }
      takenAway.set(own.isValid());
      return own.releaseAsync().toCompletableFuture();
    }
  }

  /**
   * Written once when the owner closes; read after each addition. So either close sees the
   * addition, or the addition sees this flag.
   */
  private volatile boolean closed;

  /**
   * @param worker cancels and releases when the owner closes: thousands of calls would keep its
   *     event loop for too long
   */
  Scope(@Nullable String deploymentId, Executor worker, Runnable onClosed) {
    this.deploymentId = deploymentId;
    this.worker = worker;
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

  /**
   * Remembers a lease until it ends. If the owner has closed, releases the lease and returns false.
   */
  boolean hold(DefaultVertxLease granted) {
    Lease lease = granted.unwrap();
    // A verticle's lease lives until the verticle is undeployed, even if the verticle drops the
    // object. Outside a verticle a strong reference would never end, so a weak one keeps the core's
    // leak detection working.
    Held handle =
        new Held(
            deploymentId != null ? () -> lease : new WeakReference<>(lease)::get,
            granted.takenAway());
    held.add(handle);
    if (closed && held.remove(handle)) {
      handle.release();
      return false;
    }
    lease.whenEnded().thenRun(() -> held.remove(handle));
    return true;
  }

  CompletableFuture<Void> close() {
    closed = true;
    onClosed.run();
    return asked.isEmpty() && held.isEmpty()
        ? CompletableFuture.completedFuture(null)
        : CompletableFuture.supplyAsync(this::endAll, worker).thenCompose(ended -> ended);
  }

  private CompletableFuture<Void> endAll() {
    List.copyOf(asked).forEach(Runnable::run);
    List<CompletableFuture<?>> releases = new ArrayList<>();
    for (Held handle : List.copyOf(held)) {
      if (held.remove(handle)) {
        releases.add(handle.release());
      }
    }
    // The client repeats an unconfirmed release in the background; it must not fail an
    // undeployment.
    return CompletableFuture.allOf(releases.toArray(CompletableFuture[]::new))
        .handle((done, failure) -> null);
  }
}
