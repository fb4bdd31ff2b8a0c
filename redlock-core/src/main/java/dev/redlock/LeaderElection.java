package dev.redlock;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.Elections;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs a piece of work on just one of many instances: the one that holds the lock. When it goes,
 * another takes over.
 *
 * <p>The promise is that of the lease: by validity, no two instances work at the same time. The
 * work is told to stop a margin before validity ends, so that it can have stopped by then. What it
 * does after a pause of its process, before it looks again, only {@link Lease#ensureValid()} and a
 * resource that checks the fencing token can stop.
 *
 * <p>States, and what leads from one to the next:
 *
 * <pre>
 * IDLE ──start──▶ ACQUIRING ──granted──▶ WORKING ◀──extended/overdue──▶ RENEWING
 *                   │    ▲                  │                              │
 *               held│    │pause over        └──lease lost or ending, work failed, resign──┐
 *                   ▼    │                                                                ▼
 *                 WAITING ◀──────────────────── stopped and released ──────────────── RELEASING
 * any ──pause──▶ (RELEASING ▶) PAUSED ──resume──▶ ACQUIRING;  any ──stop──▶ (RELEASING ▶) IDLE
 * </pre>
 *
 * <p>All methods are safe from any thread and none blocks, but for {@link #close()}.
 */
public interface LeaderElection extends AutoCloseable {

  /** Prepares an election about this name. */
  static Builder builder(Redlock redlock, String name, Work work) {
    return new Builder(redlock, name, work);
  }

  /** Begins to campaign; does nothing if begun already. */
  void start();

  /**
   * Stops working, hands the lock over at once, and campaigns no more until {@link #start}.
   * Completes when work has stopped (or {@link Builder#stopTimeout} has passed) and the lock is
   * released, as {@link Lease#releaseAsync} tells it (or one node timeout has passed); never fails.
   */
  CompletionStage<Void> stop();

  /** Like {@link #stop}, until {@link #resume}. Nothing happens when it is not started. */
  CompletionStage<Void> pause();

  /** Campaigns again after {@link #pause}. */
  void resume();

  /** Stops working, hands over, and waits for its turn again. Nothing happens unless it works. */
  CompletionStage<Void> resign();

  /** Where it stands now. */
  State state();

  /** The lease it works under, or null. */
  @Nullable Lease lease();

  /** {@link #stop()}, and waits for it for at most {@link Builder#stopTimeout}. */
  @Override
  void close();

  /** Where an instance stands. */
  enum State {
    /** Not started, or stopped. */
    IDLE,
    /** Asks for the lock for the first time since it was started, resumed, or last paused. */
    ACQUIRING,
    /** Holds the lock and works. */
    WORKING,
    /** Works, but more than half of the lease time has passed unextended: extension is retried. */
    RENEWING,
    /** Told to stay out. */
    PAUSED,
    /** Another holds the lock, or the nodes cannot grant it: waits for its turn. */
    WAITING,
    /** Work is being stopped, then the lock is handed over. */
    RELEASING
  }

  /** Why work has to stop. */
  enum StopReason {
    /** The validity of the lease is about to run out: it could not be extended. */
    LEASE_ENDING,
    /** The lease has ended already: lost, expired while the process was paused, or at its cap. */
    LEASE_LOST,
    /** {@link Work#startWork} failed. */
    WORK_FAILED,
    /** {@link LeaderElection#resign()} was called. */
    RESIGNED,
    /** {@link LeaderElection#pause()} was called. */
    PAUSED,
    /** {@link LeaderElection#stop()} or {@link LeaderElection#close()} was called. */
    STOPPED
  }

  /**
   * What is done by one instance at a time. Called on the executor of the builder; calls do not
   * overlap, but that {@link #stopWork} does not wait for a {@link #startWork} that blocks its
   * thread.
   */
  interface Work {
    /**
     * Starts working under this lease, and returns. The stage completes when work has started; if
     * it fails, or an exception is thrown, the lock is given up and tried for again after a pause.
     */
    CompletionStage<?> startWork(Lease lease);

    /**
     * Stops working. Called exactly once for each call of {@link #startWork}, also when that failed
     * or has not completed yet. The lock is handed over when the stage completes, in whatever way,
     * or when {@link Builder#stopTimeout} has passed; in the latter case this instance takes no
     * part until the stage completes.
     */
    CompletionStage<?> stopWork(StopReason reason);
  }

  /** Told what happens. What it throws is logged. */
  interface Listener {
    /** The state changed. */
    default void onState(State from, State to) {}

    /** A callback of {@link Work} failed, or did not complete in time. Work goes on elsewhere. */
    default void onFailure(Throwable failure) {}
  }

  /** Configures an election. Every setter returns this builder. Not safe for concurrent use. */
  final class Builder {
    private final Redlock redlock;
    private final String name;
    private final Work work;
    private LockOptions options;
    private @Nullable Duration stopMargin;
    private @Nullable Duration stopTimeout;
    private Duration retryPause = Duration.ofSeconds(1);
    private Listener listener = new Listener() {};
    private @Nullable Executor executor;

    private Builder(Redlock redlock, String name, Work work) {
      this.redlock = requireNonNull(redlock, "redlock");
      this.name = requireNonNull(name, "name");
      this.work = requireNonNull(work, "work");
      options = redlock.defaultOptions();
    }

    /**
     * How the lock is taken; default those of the client. Without automatic extension, the lock
     * changes hands each lease time; the hold cap bounds one term of office.
     */
    public Builder options(LockOptions options) {
      this.options = requireNonNull(options, "options");
      return this;
    }

    /**
     * How long before the end of validity work is told to stop: the time it needs for stopping.
     * Default a sixth of the lease time; at most half of it.
     */
    public Builder stopMargin(Duration stopMargin) {
      this.stopMargin = requireNonNull(stopMargin, "stopMargin");
      return this;
    }

    /** How long a clean stop waits for the work to stop. Default the lease time. */
    public Builder stopTimeout(Duration stopTimeout) {
      this.stopTimeout = requireNonNull(stopTimeout, "stopTimeout");
      return this;
    }

    /**
     * The pause after a failure, doubled with each further one up to 30 times itself; default 1 s.
     */
    public Builder retryPause(Duration retryPause) {
      this.retryPause = requireNonNull(retryPause, "retryPause");
      return this;
    }

    /** Who is told; default nobody. */
    public Builder listener(Listener listener) {
      this.listener = requireNonNull(listener, "listener");
      return this;
    }

    /** Where work and listener are called; default where the client completes its futures. */
    public Builder executor(Executor executor) {
      this.executor = requireNonNull(executor, "executor");
      return this;
    }

    /**
     * Makes the election; nothing happens before {@link LeaderElection#start}.
     *
     * @throws IllegalArgumentException naming the values that do not fit, or if the client was not
     *     made by {@link Redlock#builder()}
     */
    public LeaderElection build() {
      Duration leaseTime = options.leaseTime();
      Duration margin = stopMargin != null ? stopMargin : leaseTime.dividedBy(6);
      if (margin.isNegative() || margin.multipliedBy(2).compareTo(leaseTime) > 0) {
        throw new IllegalArgumentException(
            "stopMargin " + margin + " must lie between 0 and half of leaseTime " + leaseTime);
      }
      Duration timeout = stopTimeout != null ? stopTimeout : leaseTime;
      if (timeout.isNegative() || timeout.isZero()) {
        throw new IllegalArgumentException("stopTimeout " + timeout + " must be positive");
      }
      if (retryPause.isNegative() || retryPause.isZero()) {
        throw new IllegalArgumentException("retryPause " + retryPause + " must be positive");
      }
      return Elections.create(
          redlock,
          new Elections.Terms(name, options, margin, timeout, retryPause),
          work,
          listener,
          executor);
    }
  }
}
