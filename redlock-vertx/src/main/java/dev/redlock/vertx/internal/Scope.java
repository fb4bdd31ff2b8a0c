package dev.redlock.vertx.internal;

import dev.redlock.Lease;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What one deployed verticle, or Vert.x outside any verticle, waits for and holds. */
final class Scope {
  private final @Nullable String deploymentId;
  private final Runnable onClosed;
  private final Inside.Hook hook = new Inside.Hook(this::close);
  private final Set<Runnable> asked = ConcurrentHashMap.newKeySet();
  private final Set<Supplier<@Nullable Lease>> held = ConcurrentHashMap.newKeySet();

  /** Written once when the owner goes; read after something was added: one of the two sees it. */
  private volatile boolean closed;

  Scope(@Nullable String deploymentId, Runnable onClosed) {
    this.deploymentId = deploymentId;
    this.onClosed = onClosed;
  }

  @Nullable String deploymentId() {
    return deploymentId;
  }

  /** Closes this scope. */
  Inside.Hook hook() {
    return hook;
  }

  boolean isClosed() {
    return closed;
  }

  int waiting() {
    return asked.size();
  }

  /** Remembers how to give up what waits, until it is {@linkplain #answered}. */
  void ask(Runnable giveUp) {
    asked.add(giveUp);
    if (closed) {
      giveUp.run();
    }
  }

  void answered(Runnable giveUp) {
    asked.remove(giveUp);
  }

  /** Remembers what is held until it ends; false, and it is released, if the owner has gone. */
  boolean hold(Lease lease) {
    // A verticle's lease lives until the verticle goes, whether or not it kept the object. Outside
    // a verticle that would be for ever: there the core's watch over lost leases goes on.
    Supplier<@Nullable Lease> handle =
        deploymentId != null ? () -> lease : new WeakReference<>(lease)::get;
    held.add(handle);
    if (closed && held.remove(handle)) {
      lease.releaseAsync();
      return false;
    }
    lease.whenEnded().thenRun(() -> held.remove(handle));
    return true;
  }

  CompletableFuture<Void> close() {
    closed = true;
    onClosed.run();
    List.copyOf(asked).forEach(Runnable::run);
    List<CompletableFuture<?>> releases = new ArrayList<>();
    for (Supplier<@Nullable Lease> handle : List.copyOf(held)) {
      Lease lease = held.remove(handle) ? handle.get() : null;
      if (lease != null) {
        releases.add(lease.releaseAsync().toCompletableFuture());
      }
    }
    // An unconfirmed release goes on in the background: not a reason to fail an undeployment.
    return CompletableFuture.allOf(releases.toArray(CompletableFuture[]::new))
        .handle((done, failure) -> null);
  }
}
