package dev.redlock.vertx.internal;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.election.LeaderElection;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Deploys a verticle as the work of an election. The verticle is not a child of the outer verticle:
 * Vert.x would undeploy a child by itself, and the election could not wait for that before it
 * releases the lock.
 */
public final class InnerDeployment implements LeaderElection.Work {
  private final Vertx vertx;
  private final Context neutral;
  private final Supplier<? extends Deployable> inner;
  private final DeploymentOptions options;

  /** What to do when the verticle was undeployed, but not by this object. */
  private final Runnable onGone;

  /** Set by startWork, taken by the stopWork that follows; read by the probe. */
  private final AtomicReference<@Nullable Deployed> current = new AtomicReference<>();

  public InnerDeployment(
      Vertx vertx,
      Supplier<? extends Deployable> inner,
      DeploymentOptions options,
      Runnable onGone) {
    this.vertx = vertx;
    neutral = Inside.eventLoopContext(vertx);
    this.inner = inner;
    this.options = options;
    this.onGone = onGone;
  }

  /**
   * Makes the client undeploy this verticle before it closes with Vert.x, which closes clients
   * before it undeploys verticles; and stop its election before it closes alone.
   */
  public static void endBeforeClose(
      VertxRedlock redlock, Context context, Supplier<CompletionStage<Void>> stop) {
    if (redlock instanceof DefaultVertxRedlock client) {
      client.elects(context, stop);
    }
  }

  /** Runs the task when the client is built, where it may load classes. */
  public static <T> CompletionStage<T> whenBuilt(VertxRedlock redlock, Function<Redlock, T> task) {
    return redlock instanceof DefaultVertxRedlock client
        ? client.whenBuilt(task)
        : CompletableFuture.completedFuture(task.apply(redlock.redlock()));
  }

  /**
   * Runs the task when the verticle of this context has closed, even if it was undeployed before it
   * had started, which calls no {@code stop}. Returns false if it has closed already.
   */
  public static boolean whenClosed(
      Context context, Supplier<? extends CompletionStage<Void>> task) {
    return Inside.ownerOf(context).add(new Inside.Hook(task));
  }

  @Override
  public CompletionStage<?> startWork(Lease lease) {
    Deployed next = new Deployed();
    current.set(next);
    neutral.runOnContext(
        nothing -> {
          try {
            vertx.deployVerticle(next::instance, options).onComplete(next::onDeployed);
          } catch (RuntimeException e) {
            next.onDeployed(Future.failedFuture(e));
          }
        });
    return next.id.future().toCompletionStage();
  }

  @Override
  public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
    Deployed last = current.getAndSet(null);
    return last == null
        ? CompletableFuture.completedFuture(null)
        : last.undeploy().toCompletionStage();
  }

  /** Completes when every instance has run a task on its context. */
  public CompletionStage<?> probe() {
    Deployed now = current.get();
    return now == null ? CompletableFuture.completedFuture(null) : now.probe().toCompletionStage();
  }

  /** One deployment: all its instances, from the first deploy to the last close. */
  private final class Deployed {
    final Promise<String> id = Promise.promise();
    private final Promise<Void> gone = Promise.promise();

    /** The contexts of instances that run. Changed by their threads, read by any thread. */
    private final Set<Context> running = ConcurrentHashMap.newKeySet();

    /** Written by the election, read by the threads of the instances. */
    private volatile boolean undeploying;

    /** How the stop of an instance failed. Written by its thread, read when all have ended. */
    private volatile @Nullable Throwable stopFailure;

    @Nullable Deployable instance() {
      Deployable own = inner.get();
      return own == null ? null : new Instance(own, this);
    }

    void onDeployed(io.vertx.core.AsyncResult<String> result) {
      if (result.succeeded()) {
        id.complete(result.result());
      } else {
        id.fail(result.cause());
      }
      checkGone();
    }

    void began(Context context) {
      running.add(context);
      boolean open =
          whenClosed(
              context,
              () -> {
                running.remove(context);
                checkGone();
                return CompletableFuture.completedFuture(null);
              });
      if (!open) {
        running.remove(context);
      }
    }

    private void checkGone() {
      if (running.isEmpty()
          && id.future().isComplete()
          && gone.tryComplete()
          && id.future().succeeded()
          && !undeploying) {
        onGone.run();
      }
    }

    Future<Void> undeploy() {
      undeploying = true;
      // Wait for a deployment in progress: the verticle that it starts must be undeployed.
      return id.future()
          .otherwise((String) null)
          .compose(known -> known == null ? Future.<Void>succeededFuture() : undeploy(known));
    }

    /**
     * Completes when no instance runs. A failure of Vert.x says nothing about that: it refuses the
     * second undeployment of a verticle that undeploys itself, while that verticle still stops. And
     * if a child of the verticle fails to stop, only the second call undeploys the verticle.
     */
    private Future<Void> undeploy(String known) {
      Future<Void> first = vertx.undeploy(known);
      return first
          .recover(failure -> vertx.undeploy(known))
          .transform(tried -> gone.future())
          .transform(ended -> isRefusal(first) ? Future.succeededFuture() : first);
    }

    private boolean isRefusal(Future<Void> undeployed) {
      return undeployed.cause() instanceof IllegalStateException e && e != stopFailure;
    }

    Future<?> probe() {
      List<Future<Void>> ticks =
          running.stream()
              .map(
                  context -> {
                    Promise<Void> tick = Promise.promise();
                    context.runOnContext(nothing -> tick.complete());
                    return tick.future();
                  })
              .toList();
      return Future.join(ticks);
    }
  }

  /**
   * One instance of the inner verticle. Two instances are equal if the user supplied the same
   * object twice, which Vert.x refuses.
   */
  private record Instance(Deployable own, Deployed deployed) implements Deployable {
    @Override
    public Future<?> deploy(Context context) throws Exception {
      deployed.began(context);
      return own.deploy(context);
    }

    @Override
    public Future<?> undeploy(Context context) throws Exception {
      try {
        return own.undeploy(context).onFailure(failure -> deployed.stopFailure = failure);
      } catch (Throwable e) {
        deployed.stopFailure = e;
        throw e;
      }
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Instance instance && instance.own == own;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(own);
    }
  }
}
