package dev.redlock.vertx.internal;

import dev.redlock.LeaderElection;
import dev.redlock.Lease;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Deploys a verticle as the work of an election. Not as a child of the outer verticle: Vert.x would
 * undeploy a child by itself, and the election could not wait for it before it hands over.
 */
public final class InnerDeployment implements LeaderElection.Work {
  private final Vertx vertx;
  private final Context neutral;
  private final Supplier<? extends VerticleBase> inner;
  private final DeploymentOptions options;

  /** The deployment under way or done. Set by a start, taken by the stop that follows. */
  private final AtomicReference<@Nullable Future<String>> deployed = new AtomicReference<>();

  public InnerDeployment(
      Vertx vertx, Supplier<? extends VerticleBase> inner, DeploymentOptions options) {
    this.vertx = vertx;
    neutral = Inside.eventLoopContext(vertx);
    this.inner = inner;
    this.options = options;
  }

  /** Vert.x closes clients before verticles: has this verticle undeployed first. */
  public static void undeployBeforeClose(VertxRedlock redlock, Context context) {
    if (redlock instanceof DefaultVertxRedlock client) {
      client.owns(context);
    }
  }

  @Override
  public CompletionStage<?> startWork(Lease lease) {
    Promise<String> promise = Promise.promise();
    deployed.set(promise.future());
    neutral.runOnContext(
        nothing -> {
          try {
            vertx.deployVerticle(inner.get(), options).onComplete(promise);
          } catch (RuntimeException e) {
            promise.fail(e);
          }
        });
    return promise.future().toCompletionStage();
  }

  @Override
  public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
    Future<String> started = deployed.getAndSet(null);
    if (started == null) {
      return Future.succeededFuture().toCompletionStage();
    }
    // A deployment under way is waited for: what it started has to be stopped.
    return started
        .otherwise((String) null)
        .compose(id -> id == null ? Future.<Void>succeededFuture() : undeploy(id))
        .toCompletionStage();
  }

  private Future<Void> undeploy(String id) {
    return vertx
        .undeploy(id)
        .recover(
            failure ->
                vertx.deploymentIDs().contains(id)
                    ? Future.failedFuture(failure)
                    : Future.succeededFuture()); // Somebody else was faster.
  }
}
