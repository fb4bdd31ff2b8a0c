package dev.redlock.vertx.internal;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockClosedException;
import dev.redlock.vertx.RedlockSharedLocks;
import dev.redlock.vertx.VertxLease;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Brings the core's futures onto contexts, and ties what is held to whoever holds it. */
public final class DefaultVertxRedlock implements VertxRedlock {
  private final Vertx vertx;
  private final Redlock redlock;

  /** The thread of a client of our own; null for a client of somebody else's. */
  private final @Nullable LoopTime time;

  private final Map<Inside.Owner, Scope> scopes = new ConcurrentHashMap<>();

  /** Set once, by the first who closes. */
  private final AtomicReference<@Nullable Promise<Void>> closing = new AtomicReference<>();

  DefaultVertxRedlock(Vertx vertx, Redlock redlock, @Nullable LoopTime time) {
    this.vertx = vertx;
    this.redlock = redlock;
    this.time = time;
  }

  private final Inside.Hook withVertx = new Inside.Hook(() -> closeOnce().toCompletionStage());

  void closeWithVertx() {
    Inside.closeWith(vertx, withVertx);
  }

  @Override
  public Future<VertxLease> acquire(String name, Duration wait) {
    return acquire(wait, () -> redlock.lock(name));
  }

  @Override
  public Future<VertxLease> acquire(List<String> names, Duration wait) {
    return acquire(wait, () -> redlock.lock(names));
  }

  @Override
  public Future<VertxLease> acquire(List<String> names, LockOptions options, Duration wait) {
    return acquire(wait, () -> redlock.lock(names, options));
  }

  private Future<VertxLease> acquire(Duration wait, Supplier<DistributedLock> lock) {
    return ask(() -> lock.get().acquireAsync(wait), Optional::of).map(Optional::orElseThrow);
  }

  @Override
  public Future<Optional<VertxLease>> tryAcquire(String name) {
    return ask(() -> redlock.lock(name).tryAcquireAsync(), lease -> lease);
  }

  private <A> Future<Optional<VertxLease>> ask(
      Supplier<CompletableFuture<A>> question, Function<A, Optional<Lease>> answer) {
    Context context = vertx.getOrCreateContext();
    if (closing.get() != null) {
      return Inside.failed(context, new RedlockClosedException());
    }
    Scope scope = scope(context);
    if (scope.isClosed()) {
      return Inside.failed(context, undeployed());
    }
    CompletableFuture<A> asked;
    try {
      asked = question.get();
    } catch (IllegalArgumentException e) {
      return Inside.failed(context, e);
    }
    Promise<Optional<VertxLease>> promise = Inside.promise(context);
    Runnable giveUp = () -> asked.cancel(false);
    scope.ask(giveUp);
    asked.whenComplete(
        (result, failure) -> {
          scope.answered(giveUp);
          if (failure != null) {
            promise.fail(cause(failure));
          } else {
            deliver(scope, promise, answer.apply(result));
          }
        });
    return promise.future();
  }

  private void deliver(
      Scope scope, Promise<Optional<VertxLease>> promise, Optional<Lease> granted) {
    if (granted.isEmpty()) {
      promise.complete(Optional.empty());
      return;
    }
    Lease lease = granted.get();
    if (scope.hold(lease)) {
      promise.complete(Optional.of(new DefaultVertxLease(vertx, lease)));
    } else {
      promise.fail(undeployed());
    }
  }

  private static Throwable cause(Throwable failure) {
    if (failure instanceof CancellationException) {
      return undeployed();
    }
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  private static CancellationException undeployed() {
    return new CancellationException(
        "given up: the verticle that asked was undeployed, or the client closed");
  }

  @Override
  public <T> Future<T> withLock(String name, Duration wait, Function<VertxLease, Future<T>> body) {
    return acquire(name, wait).compose(lease -> run((DefaultVertxLease) lease, body));
  }

  private static <T> Future<T> run(DefaultVertxLease lease, Function<VertxLease, Future<T>> body) {
    Future<T> running;
    try {
      running = body.apply(lease);
    } catch (RuntimeException | Error e) {
      running = Future.failedFuture(e);
    }
    return running.transform(
        result -> {
          LeaseLostException loss = lease.loss(); // Before the release, which ends it too.
          Future<T> outcome;
          if (loss == null) {
            outcome =
                result.succeeded()
                    ? Future.succeededFuture(result.result())
                    : Future.failedFuture(result.cause());
          } else {
            if (result.failed()) {
              loss.addSuppressed(result.cause());
            }
            outcome = Future.failedFuture(loss);
          }
          return lease.release().transform(released -> outcome);
        });
  }

  /** What belongs to the caller's verticle. */
  private Scope scope(Context context) {
    Inside.Owner owner = Inside.ownerOf(context);
    Scope known = scopes.get(owner);
    if (known != null) {
      return known;
    }
    Scope fresh = new Scope(owner.deploymentId(), () -> scopes.remove(owner));
    known = scopes.putIfAbsent(owner, fresh);
    if (known != null) {
      return known;
    }
    if (!owner.add(fresh.hook())) {
      fresh.close(); // Undeployed already.
    }
    return fresh;
  }

  /** Makes Vert.x undeploy this verticle before the client closes with it. */
  public void owns(Context context) {
    scope(context);
  }

  /** How many calls wait for an answer, over all verticles. */
  int waiting() {
    return scopes.values().stream().mapToInt(Scope::waiting).sum();
  }

  @Override
  public RedlockSharedLocks sharedLocks() {
    return new DefaultSharedLocks(this);
  }

  @Override
  public Redlock redlock() {
    return redlock;
  }

  @Override
  public Future<Void> close() {
    Future<Void> closed = closeOnce();
    if (Inside.isClosing(vertx)) {
      return closed; // Contexts may tell nothing any more.
    }
    Promise<Void> told = Inside.promise(vertx.getOrCreateContext());
    closed.onComplete(told);
    return told.future();
  }

  private Future<Void> closeOnce() {
    Promise<Void> mine = Promise.promise();
    Promise<Void> first = closing.compareAndExchange(null, mine);
    if (first != null) {
      return first.future();
    }
    undeployHolders()
        .onComplete(
            undeployed -> {
              List<CompletableFuture<Void>> scopesClosed = new ArrayList<>();
              for (Map.Entry<Inside.Owner, Scope> e : List.copyOf(scopes.entrySet())) {
                e.getKey().remove(e.getValue().hook());
                scopesClosed.add(e.getValue().close());
              }
              CompletableFuture.allOf(scopesClosed.toArray(CompletableFuture[]::new))
                  .whenComplete((done, failure) -> closeClient(mine));
            });
    return mine.future();
  }

  /**
   * Vert.x runs its close hooks before it undeploys: without this, verticles would lose their
   * leases while they still work.
   */
  private Future<?> undeployHolders() {
    if (!Inside.isClosing(vertx)) {
      Inside.closeWithNoMore(vertx, withVertx);
      return Future.succeededFuture(); // Closed by the user, whose verticles live on.
    }
    List<Future<?>> gone = new ArrayList<>();
    for (Scope scope : List.copyOf(scopes.values())) {
      String id = scope.deploymentId();
      if (id != null) {
        gone.add(vertx.undeploy(id));
      }
    }
    return Future.join(gone);
  }

  private void closeClient(Promise<Void> done) {
    LoopTime own = time;
    if (own == null) {
      done.complete();
      return;
    }
    // It waits for the nodes to confirm, at most one node timeout: not on an event loop.
    Thread closer =
        new Thread(
            () -> {
              try {
                redlock.close();
              } finally {
                done.complete();
                own.close();
              }
            },
            "redlock-vertx-close");
    closer.setDaemon(true);
    closer.start();
  }
}
