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
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Completes the futures of the core on Vert.x contexts, and ties each lease to the verticle that
 * acquired it.
 */
public final class DefaultVertxRedlock implements VertxRedlock {
  private static final Logger log = LoggerFactory.getLogger(VertxRedlock.class);

  /** What calls without a way to give up pass. */
  private static final Future<?> NEVER = Promise.promise().future();

  private final Vertx vertx;
  private final CompletableFuture<Clients.Built> building;
  private final ColdThread cold;
  private final long closeGraceMillis;

  /**
   * The client, once its first call was answered: its classes are loaded, so that calls may run on
   * event loops. Written by the cold thread, read by every call.
   */
  private volatile @Nullable Redlock warm;

  private final Map<Inside.Owner, Scope> scopes = new ConcurrentHashMap<>();

  /** By the future with which callers give up: what it ends. Goes with that future. */
  private final Map<Future<?>, Set<Runnable>> endings =
      Collections.synchronizedMap(new WeakHashMap<>());

  /** Set once, by the first call of close. */
  private final AtomicReference<@Nullable Promise<Void>> closing = new AtomicReference<>();

  private final Inside.Hook withVertx = new Inside.Hook(() -> closeOnce().toCompletionStage());

  DefaultVertxRedlock(
      Vertx vertx,
      CompletableFuture<Clients.Built> building,
      ColdThread cold,
      long closeGraceMillis) {
    this.vertx = vertx;
    this.building = building;
    this.cold = cold;
    this.closeGraceMillis = closeGraceMillis;
    building.exceptionally(
        failure -> {
          log.error("the lock client could not be built; all its calls fail", cause(failure));
          return null;
        });
  }

  /**
   * Closes this client with Vert.x, and keeps the process alive until then. Vert.x starts the
   * thread of an event loop with its first task. Before that all threads are daemons, so the
   * process would end when its {@code main} method returns, while the client still connects.
   */
  void joinVertx() {
    if (Inside.isClosing(vertx)) {
      closeOnce();
    } else {
      Inside.addCloseHook(vertx, withVertx);
      try {
        Inside.eventLoopContext(vertx).runOnContext(nothing -> {});
      } catch (RejectedExecutionException e) {
        log.debug("Vert.x closes, and this client with it");
      }
    }
  }

  @Override
  public Future<Void> ready() {
    if (closing.get() != null) {
      return Inside.failed(vertx, new RedlockClosedException());
    }
    return Inside.onCaller(
        vertx,
        building.thenComposeAsync(built -> built.redlock().operations().ready(), cold),
        DefaultVertxRedlock::cause);
  }

  @Override
  public Future<VertxLease> acquire(String name, Duration wait) {
    return acquire(wait, NEVER, false, client -> client.lock(given(name, "name")));
  }

  @Override
  public Future<VertxLease> acquire(List<String> names, Duration wait) {
    return acquire(wait, NEVER, false, client -> client.lock(given(names, "names")));
  }

  @Override
  public Future<VertxLease> acquire(List<String> names, LockOptions options, Duration wait) {
    return acquire(names, options, wait, NEVER);
  }

  @Override
  public Future<VertxLease> acquire(
      List<String> names, LockOptions options, Duration wait, Future<?> giveUp) {
    return acquire(
        wait,
        giveUp,
        false,
        client -> client.lock(given(names, "names"), given(options, "options")));
  }

  private Future<VertxLease> acquire(
      Duration wait, Future<?> giveUp, boolean ofBody, Function<Redlock, DistributedLock> lock) {
    long asked = System.nanoTime();
    return ask(
            giveUp,
            ofBody,
            client -> {
              Duration patience = given(wait, "wait");
              if (warm == null && !patience.isNegative()) { // Building the client took its time.
                Duration left = patience.minusNanos(System.nanoTime() - asked);
                patience = left.isNegative() ? Duration.ZERO : left;
              }
              return lock.apply(client).acquireAsync(patience);
            },
            Optional::of)
        .map(Optional::orElseThrow);
  }

  @Override
  public Future<Optional<VertxLease>> tryAcquire(String name) {
    return ask(
        NEVER, false, client -> client.lock(given(name, "name")).tryAcquireAsync(), lease -> lease);
  }

  private static <T> T given(@Nullable T argument, String what) {
    if (argument == null) {
      throw new IllegalArgumentException(what + " must not be null");
    }
    return argument;
  }

  private <A> Future<Optional<VertxLease>> ask(
      Future<?> giveUp,
      boolean ofBody,
      Function<Redlock, CompletableFuture<A>> question,
      Function<A, Optional<Lease>> answer) {
    if (closing.get() != null) {
      return Inside.failed(vertx, new RedlockClosedException());
    }
    Context context = vertx.getOrCreateContext();
    Scope scope = scope(context);
    if (scope.isClosed()) {
      return Inside.failed(vertx, undeployed());
    }
    CompletableFuture<A> asked;
    try {
      given(giveUp, "giveUp");
      asked = submit(question, answer);
    } catch (RuntimeException e) {
      return Inside.failed(vertx, e);
    }
    Promise<Optional<VertxLease>> promise = Inside.promise(context);
    Runnable cancel = () -> asked.cancel(false);
    scope.ask(cancel);
    Set<Runnable> ended = giveUp == NEVER ? Set.of() : endedBy(giveUp);
    if (giveUp != NEVER) {
      ended.add(cancel);
      if (giveUp.isComplete()) { // Its handler may have run before.
        cancel.run();
      }
    }
    asked.whenComplete(
        (result, failure) -> {
          scope.answered(cancel);
          if (giveUp != NEVER) {
            ended.remove(cancel);
          }
          if (failure == null) {
            deliver(scope, context, promise, giveUp, ofBody, answer.apply(result));
          } else if (failure instanceof CancellationException && giveUp.isComplete()) {
            promise.fail(gaveUp());
          } else {
            promise.fail(cause(failure));
          }
        });
    return promise.future();
  }

  /**
   * The questions that the future of a caller ends. One handler serves all of them: a future can
   * live for long, and a handler cannot be removed.
   */
  private Set<Runnable> endedBy(Future<?> giveUp) {
    return endings.computeIfAbsent(
        giveUp,
        future -> {
          Set<Runnable> all = ConcurrentHashMap.newKeySet();
          future.onComplete(given -> all.forEach(Runnable::run));
          return all;
        });
  }

  /** Asks at once, or on the cold thread when the client is built. */
  private <A> CompletableFuture<A> submit(
      Function<Redlock, CompletableFuture<A>> question, Function<A, Optional<Lease>> answer) {
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
              pass(question.apply(built.redlock()), asked, answer);
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
      CompletableFuture<A> inner, CompletableFuture<A> asked, Function<A, Optional<Lease>> answer) {
    inner.whenComplete(
        (result, failure) -> {
          if (failure != null) {
            asked.completeExceptionally(failure);
          } else {
            cold.execute(() -> warm = building.join().redlock());
            if (!asked.complete(result)) {
              answer.apply(result).ifPresent(Lease::releaseAsync);
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

  private void deliver(
      Scope scope,
      Context context,
      Promise<Optional<VertxLease>> promise,
      Future<?> giveUp,
      boolean ofBody,
      Optional<Lease> granted) {
    if (granted.isEmpty()) {
      promise.complete(Optional.empty());
      return;
    }
    DefaultVertxLease lease = new DefaultVertxLease(vertx, granted.get());
    if (!scope.hold(lease, ofBody)) {
      promise.fail(undeployed());
    } else if (giveUp == NEVER) {
      promise.complete(Optional.of(lease));
    } else {
      // Decided on the context of the caller: what it gave up before is never delivered.
      context.runOnContext(
          nothing -> {
            if (giveUp.isComplete()) {
              lease.unwrap().releaseAsync();
              promise.fail(gaveUp());
            } else {
              promise.complete(Optional.of(lease));
            }
          });
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
        "cancelled: the calling verticle was undeployed, or the client was closed");
  }

  private static CancellationException gaveUp() {
    return new CancellationException("cancelled: the caller gave up");
  }

  @Override
  public <T> Future<T> withLock(String name, Duration wait, Function<VertxLease, Future<T>> body) {
    if (body == null) {
      return Inside.failed(vertx, new IllegalArgumentException("body must not be null"));
    }
    return acquire(wait, NEVER, true, client -> client.lock(given(name, "name")))
        .compose(lease -> run((DefaultVertxLease) lease, body));
  }

  private static <T> Future<T> run(DefaultVertxLease lease, Function<VertxLease, Future<T>> body) {
    Future<T> running;
    try {
      running = body.apply(lease);
      if (running == null) {
        running = Future.failedFuture(new NullPointerException("the body returned no future"));
      }
    } catch (
        Throwable e) { // Checked ones too: Kotlin, Lombok and generics can throw them undeclared.
      running = Future.failedFuture(e);
    }
    return running.transform(
        result -> {
          LeaseLostException loss =
              lease.loss(); // Read before the release, which also ends the lease.
          Future<T> after;
          if (loss == null) {
            after =
                result.succeeded()
                    ? Future.succeededFuture(result.result())
                    : Future.failedFuture(result.cause());
          } else {
            if (result.failed()) {
              loss.addSuppressed(result.cause());
            }
            after = Future.failedFuture(loss);
          }
          return lease.release().transform(released -> after);
        });
  }

  /** Returns the scope of the caller's verticle. */
  private Scope scope(Context context) {
    Inside.Owner owner = Inside.ownerOf(context);
    Scope known = scopes.get(owner);
    if (known != null) {
      return known;
    }
    Scope fresh =
        new Scope(owner.deploymentId(), cold, closeGraceMillis, () -> scopes.remove(owner));
    known = scopes.putIfAbsent(owner, fresh);
    if (known != null) {
      return known;
    }
    if (!owner.add(fresh.hook())) {
      fresh.close(); // The verticle is undeployed already.
    }
    return fresh;
  }

  /**
   * Makes Vert.x undeploy this verticle before the client closes with it, and stops its election
   * before the client closes alone.
   */
  void elects(Context context, Supplier<CompletionStage<Void>> stop) {
    scope(context).elect(stop);
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
    if (!building.isDone() && Context.isOnEventLoopThread()) {
      throw new IllegalStateException(
          "the client is being built, and an event loop must not wait for it: use ready()");
    }
    try {
      return building.join().redlock();
    } catch (CompletionException e) {
      throw cause(e) instanceof RuntimeException failure ? failure : e;
    }
  }

  /** The client itself; empty while it is being built, or if that failed. */
  public Optional<Redlock> built() {
    return building.isDone() && !building.isCompletedExceptionally()
        ? Optional.of(building.join().redlock())
        : Optional.empty();
  }

  /**
   * Runs the task on a thread that may load classes and block for a moment, when the client is
   * built.
   */
  public <T> CompletableFuture<T> whenBuilt(Function<Redlock, T> task) {
    return building.thenApplyAsync(built -> task.apply(built.redlock()), cold);
  }

  @Override
  public Future<Void> close() {
    Future<Void> closed = closeOnce();
    if (Inside.isClosing(vertx)) {
      return closed; // Contexts may no longer complete futures.
    }
    Promise<Void> onCaller = Inside.promise(vertx.getOrCreateContext());
    closed.onComplete(onCaller);
    return onCaller.future();
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
   * Undeploys the verticles that hold leases. Vert.x runs its close hooks before it undeploys
   * verticles; without this step, verticles would lose their leases while they still work.
   */
  private Future<?> undeployHolders() {
    if (!Inside.isClosing(vertx)) {
      Inside.removeCloseHook(vertx, withVertx);
      return Future.succeededFuture(); // The user closed the client; the verticles stay deployed.
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
    building.whenComplete(
        (built, failure) -> {
          LoopTime own = failure == null ? built.time() : null;
          if (own == null) {
            done.complete();
          } else {
            // close() blocks until holders and nodes have finished, so it must not run on an event
            // loop.
            ColdThread.daemon(() -> close(built.redlock(), own, done), "redlock-vertx-close")
                .start();
          }
        });
  }

  /** Leases and elections that were made through {@link #redlock} may finish too. */
  private void close(Redlock redlock, LoopTime own, Promise<Void> done) {
    try {
      redlock.close(Duration.ofMillis(closeGraceMillis));
    } finally {
      done.complete();
      own.close();
    }
  }
}
