package dev.redlock.vertx;

import static java.util.Objects.requireNonNull;

import dev.redlock.LeaderElection;
import dev.redlock.LockOptions;
import dev.redlock.vertx.internal.InnerDeployment;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A verticle to be deployed on every member of a fleet, which runs an inner one on just the member
 * that holds the lock.
 *
 * <p>Deploying it succeeds at once, whether or not this member is the one. When the lease is lost
 * or about to end, the inner verticle is undeployed, {@linkplain Builder#stopMargin a margin}
 * before validity ends, and this member waits for its turn again. Undeploying it stops the inner
 * verticle first and hands over at once. What {@link LeaderElection} promises and does not promise
 * holds here.
 */
public final class LockedVerticle extends VerticleBase {
  private final Builder settings;

  /** Written when deployed, read by anybody. */
  private volatile @Nullable LeaderElection election;

  private LockedVerticle(Builder settings) {
    this.settings = settings;
  }

  /** Prepares a verticle that runs what the supplier makes while it holds the lock of this name. */
  public static Builder builder(
      VertxRedlock redlock, String name, Supplier<? extends VerticleBase> inner) {
    return new Builder(redlock, name, inner);
  }

  /** Where this member stands; {@link LeaderElection.State#IDLE} while not deployed. */
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
    LeaderElection.Builder builder =
        LeaderElection.builder(
                settings.redlock.redlock(),
                settings.name,
                new InnerDeployment(vertx, settings.inner, settings.deployment))
            .executor(task -> mine.runOnContext(nothing -> task.run()));
    settings.terms.accept(builder);
    LeaderElection e = builder.build();
    election = e;
    InnerDeployment.undeployBeforeClose(settings.redlock, mine);
    e.start();
    return Future.succeededFuture();
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
    private final Supplier<? extends VerticleBase> inner;
    private DeploymentOptions deployment = new DeploymentOptions();
    private Consumer<LeaderElection.Builder> terms = election -> {};

    private Builder(VertxRedlock redlock, String name, Supplier<? extends VerticleBase> inner) {
      this.redlock = requireNonNull(redlock, "redlock");
      this.name = requireNonNull(name, "name");
      this.inner = requireNonNull(inner, "inner");
    }

    /** How the inner verticle is deployed. */
    public Builder deployment(DeploymentOptions deployment) {
      this.deployment = new DeploymentOptions(deployment);
      return this;
    }

    /** How the lock is taken; see {@link LeaderElection.Builder#options}. */
    public Builder options(LockOptions options) {
      requireNonNull(options, "options");
      return with(election -> election.options(options));
    }

    /** See {@link LeaderElection.Builder#stopMargin}. */
    public Builder stopMargin(Duration stopMargin) {
      requireNonNull(stopMargin, "stopMargin");
      return with(election -> election.stopMargin(stopMargin));
    }

    /** See {@link LeaderElection.Builder#stopTimeout}. */
    public Builder stopTimeout(Duration stopTimeout) {
      requireNonNull(stopTimeout, "stopTimeout");
      return with(election -> election.stopTimeout(stopTimeout));
    }

    /** See {@link LeaderElection.Builder#retryPause}. */
    public Builder retryPause(Duration retryPause) {
      requireNonNull(retryPause, "retryPause");
      return with(election -> election.retryPause(retryPause));
    }

    /** Who is told of states and failures, on the context of the outer verticle. */
    public Builder listener(LeaderElection.Listener listener) {
      requireNonNull(listener, "listener");
      return with(election -> election.listener(listener));
    }

    private Builder with(Consumer<LeaderElection.Builder> term) {
      terms = terms.andThen(term);
      return this;
    }

    /** Makes the verticle, to be deployed once. */
    public LockedVerticle build() {
      return new LockedVerticle(this);
    }
  }
}
