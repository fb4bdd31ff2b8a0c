package dev.redlock.vertx.internal;

import static dev.redlock.vertx.internal.GiveUps.NEVER;
import static dev.redlock.vertx.internal.Log.log;

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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Completes the futures of the core on Vert.x contexts, and ties each lease to the verticle that
 * acquired it.
 */
public final class DefaultVertxRedlock implements VertxRedlock {
  private final Vertx vertx;
  private final StartingClient client;
  private final ColdThread cold;
  private final long closeGraceMillis;
  private final GiveUps giveUps = new GiveUps();

  private final Map<Inside.Owner, Scope> scopes = new ConcurrentHashMap<>();

  /** Set once, by the first call of close. */
  private final AtomicReference<@Nullable Promise<Void>> closing = new AtomicReference<>();

  private final Inside.Hook withVertx = new Inside.Hook(() -> closeOnce().toCompletionStage());

  DefaultVertxRedlock(
      Vertx vertx,
      CompletableFuture<Clients.Built> building,
      ColdThread cold,
      long closeGraceMillis) {
    this.vertx = vertx;
    client = new StartingClient(building, cold);
    this.cold = cold;
    this.closeGraceMillis = closeGraceMillis;
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
    return Inside.onCaller(vertx, client.ready(), DefaultVertxRedlock::cause);
  }

  @Override
  public Future<VertxLease> acquire(String name, Duration wait) {
    return acquire(wait, NEVER, false, redlock -> redlock.lock(given(name, "name")));
  }

  @Override
  public Future<VertxLease> acquire(List<String> names, Duration wait) {
    return acquire(wait, NEVER, false, redlock -> redlock.lock(given(names, "names")));
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
        redlock -> redlock.lock(given(names, "names"), given(options, "options")));
  }

  private Future<VertxLease> acquire(
      Duration wait, Future<?> giveUp, boolean ofBody, Function<Redlock, DistributedLock> lock) {
    long asked = System.nanoTime();
    return ask(
            giveUp,
            ofBody,
            redlock -> {
              Duration patience = given(wait, "wait");
              // Building the client took its time.
              if (!client.isWarm() && !patience.isNegative()) {
                Duration left = patience.minusNanos(System.nanoTime() - asked);
                patience = left.isNegative() ? Duration.ZERO : left;
              }
              return lock.apply(redlock).acquireAsync(patience);
            },
            Optional::of)
        .map(Optional::orElseThrow);
  }

  @Override
  public Future<Optional<VertxLease>> tryAcquire(String name) {
    return ask(
        NEVER,
        false,
        redlock -> redlock.lock(given(name, "name")).tryAcquireAsync(),
        lease -> lease);
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
      asked = client.ask(question, result -> answer.apply(result).ifPresent(Lease::releaseAsync));
    } catch (RuntimeException e) {
      return Inside.failed(vertx, e);
    }
    Promise<Optional<VertxLease>> promise = Inside.promise(context);
    Runnable cancel = () -> asked.cancel(false);
    scope.ask(cancel);
    giveUps.add(giveUp, cancel);
    asked.whenComplete(
        (result, failure) -> {
          scope.answered(cancel);
          giveUps.remove(giveUp, cancel);
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

  static Throwable cause(Throwable failure) {
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
    return acquire(wait, NEVER, true, redlock -> redlock.lock(given(name, "name")))
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
    return client.redlock();
  }

  /** The client itself; empty while it is being built, or if that failed. */
  public Optional<Redlock> built() {
    return client.built();
  }

  /**
   * Runs the task on a thread that may load classes and block for a moment, when the client is
   * built.
   */
  public <T> CompletableFuture<T> whenBuilt(Function<Redlock, T> task) {
    return client.whenBuilt(task);
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
                  .whenComplete(
                      (done, failure) ->
                          client.close(Duration.ofMillis(closeGraceMillis), mine::complete));
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
}
