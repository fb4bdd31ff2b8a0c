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
  private @Nullable LeaderElection election;

  /** Written when deployed, read by anybody. */
  private volatile @Nullable LeaderElection shown;

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
    LeaderElection e = shown;
    return e == null ? LeaderElection.State.IDLE : e.state();
  }

  /** The election, to pause, resume or resign; null while not deployed. */
  public @Nullable LeaderElection election() {
    return shown;
  }

  @Override
  public Future<?> start() {
    Context mine = context;
    LeaderElection.Builder builder =
        LeaderElection.builder(
                settings.redlock.redlock(),
                settings.name,
                new InnerDeployment(vertx, settings.inner, settings.deployment))
            .retryPause(settings.retryPause)
            .listener(settings.listener)
            .executor(task -> mine.runOnContext(nothing -> task.run()));
    LockOptions options = settings.options;
    if (options != null) {
      builder.options(options);
    }
    Duration margin = settings.stopMargin;
    if (margin != null) {
      builder.stopMargin(margin);
    }
    Duration timeout = settings.stopTimeout;
    if (timeout != null) {
      builder.stopTimeout(timeout);
    }
    LeaderElection e = builder.build();
    election = e;
    shown = e;
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
    private @Nullable LockOptions options;
    private @Nullable Duration stopMargin;
    private @Nullable Duration stopTimeout;
    private Duration retryPause = Duration.ofSeconds(1);
    private LeaderElection.Listener listener = new LeaderElection.Listener() {};

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
      this.options = requireNonNull(options, "options");
      return this;
    }

    /** See {@link LeaderElection.Builder#stopMargin}. */
    public Builder stopMargin(Duration stopMargin) {
      this.stopMargin = requireNonNull(stopMargin, "stopMargin");
      return this;
    }

    /** See {@link LeaderElection.Builder#stopTimeout}. */
    public Builder stopTimeout(Duration stopTimeout) {
      this.stopTimeout = requireNonNull(stopTimeout, "stopTimeout");
      return this;
    }

    /** See {@link LeaderElection.Builder#retryPause}. */
    public Builder retryPause(Duration retryPause) {
      this.retryPause = requireNonNull(retryPause, "retryPause");
      return this;
    }

    /** Who is told of states and failures, on the context of the outer verticle. */
    public Builder listener(LeaderElection.Listener listener) {
      this.listener = requireNonNull(listener, "listener");
      return this;
    }

    /** Makes the verticle, to be deployed once. */
    public LockedVerticle build() {
      return new LockedVerticle(this);
    }
  }
}
