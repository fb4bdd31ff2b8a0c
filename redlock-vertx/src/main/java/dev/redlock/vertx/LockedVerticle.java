package dev.redlock.vertx;

import static java.util.Objects.requireNonNull;

import dev.redlock.Redlock;
import dev.redlock.election.LeaderElection;
import dev.redlock.vertx.internal.InnerDeployment;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A verticle for every member of a fleet. It runs an inner verticle only on the member that holds
 * the lock.
 *
 * <p>Its deployment succeeds whether or not this member holds the lock. If the inner verticle
 * undeploys itself, or an administrator undeploys it, this member releases the lock and waits for
 * it again after {@link LeaderElection.Builder#retryPause}. If the lease is lost or about to end,
 * this verticle undeploys the inner verticle, {@linkplain LeaderElection.Builder#stopMargin a
 * margin} before validity ends. Then this member waits for the lock again. When this verticle is
 * undeployed, it first stops the inner verticle and then releases the lock, so that another member
 * starts at once. The guarantees and limits of {@link LeaderElection} apply.
 */
public final class LockedVerticle extends VerticleBase {
  private final Builder settings;

  /** Written when deployed, read by any thread. */
  private volatile @Nullable LeaderElection election;

  private LockedVerticle(Builder settings) {
    this.settings = settings;
  }

  /**
   * Returns a builder for a verticle that, while it holds the lock of this name, runs the verticle
   * that the supplier creates.
   */
  public static Builder builder(
      VertxRedlock redlock, String name, Supplier<? extends Deployable> inner) {
    return new Builder(redlock, name, inner);
  }

  /** The state of this member; {@link LeaderElection.State#IDLE} while not deployed. */
  public LeaderElection.State state() {
    LeaderElection e = election;
    return e == null ? LeaderElection.State.IDLE : e.state();
  }

  /** The election, to pause, resume or resign; null while not deployed. */
  public @Nullable LeaderElection election() {
    return election;
  }

  @Override
  public Future<?> start() {
    Context mine = context;
    Promise<Void> started = Promise.promise();
    InnerDeployment.whenBuilt(settings.redlock, client -> build(client, mine))
        .whenComplete(
            (made, failure) ->
                mine.runOnContext(
                    nothing -> {
                      if (failure != null) {
                        started.fail(
                            failure instanceof CompletionException wrapped
                                    && wrapped.getCause() != null
                                ? wrapped.getCause()
                                : failure);
                      } else {
                        begin(made, mine);
                        started.complete();
                      }
                    }));
    return started.future();
  }

  /** Runs on a thread that may load classes: an election has many. */
  private LeaderElection build(Redlock client, Context mine) {
    InnerDeployment inner =
        new InnerDeployment(vertx, settings.inner, settings.deployment, this::onInnerGone);
    LeaderElection.Builder builder = LeaderElection.builder(client, settings.name, inner);
    settings.config.accept(builder);
    if (settings.livenessProbe) {
      builder.liveness(inner::probe);
    }
    return builder.executor(task -> mine.runOnContext(nothing -> task.run())).build();
  }

  private void begin(LeaderElection made, Context mine) {
    InnerDeployment.endBeforeClose(settings.redlock, mine, made::stop);
    if (InnerDeployment.whenClosed(mine, made::stop)) {
      election = made;
      made.start();
    }
  }

  /**
   * The inner verticle undeployed itself, or an administrator undeployed it: its tenure has ended.
   */
  private void onInnerGone() {
    LeaderElection e = election;
    if (e != null) {
      e.resign();
    }
  }

  @Override
  public Future<?> stop() {
    LeaderElection e = election;
    return e == null ? Future.succeededFuture() : Future.fromCompletionStage(e.stop(), context);
  }

  /** Configures a locked verticle. Every setter returns this builder. */
  public static final class Builder {
    private final VertxRedlock redlock;
    private final String name;
    private final Supplier<? extends Deployable> inner;
    private DeploymentOptions deployment = new DeploymentOptions();
    private boolean livenessProbe;
    private Consumer<LeaderElection.Builder> config = election -> {};

    private Builder(VertxRedlock redlock, String name, Supplier<? extends Deployable> inner) {
      this.redlock = requireNonNull(redlock, "redlock");
      this.name = requireNonNull(name, "name");
      this.inner = requireNonNull(inner, "inner");
    }

    /**
     * Sets the deployment options of the inner verticle. With several instances, all of them run on
     * the member that holds the lock; the supplier is called once for each.
     */
    public Builder deployment(DeploymentOptions deployment) {
      this.deployment = new DeploymentOptions(deployment);
      return this;
    }

    /**
     * Changes the election: options of the lock, stop margin, stop timeout, retry pause, listener.
     * The election calls the listener on the context of the outer verticle.
     */
    public Builder election(Consumer<LeaderElection.Builder> settings) {
      config = config.andThen(settings);
      return this;
    }

    /**
     * Whether every instance of the inner verticle must run a task on its context before each
     * extension; see {@link LeaderElection.Builder#liveness}. Default false: if the event loop or
     * the worker of the verticle is blocked, it keeps the lock. With the probe, it loses the lock
     * at the end of the lease time, so no step of the verticle may block for longer than a third of
     * the lease time.
     */
    public Builder livenessProbe(boolean livenessProbe) {
      this.livenessProbe = livenessProbe;
      return this;
    }

    /** Returns the verticle, which can be deployed once. */
    public LockedVerticle build() {
      return new LockedVerticle(this);
    }
  }
}
