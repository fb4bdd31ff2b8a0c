package dev.redlock.election;

import static java.util.Objects.requireNonNull;

import dev.redlock.InvalidOptionException;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.internal.election.ElectionClient;
import dev.redlock.internal.text.Printable;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs work on one of many instances: the instance that holds the lock. When this instance stops or
 * dies, another instance takes over.
 *
 * <p>The promise is that of the lease: no two instances have a valid lease at the same time. The
 * election tells the work to stop a margin before validity ends, so that the work has stopped by
 * then. After a pause of the process, the work may continue for a moment without a valid lease:
 * call {@link Lease#ensureValid()}, and let the resource check the fencing token.
 *
 * <p>The states and their transitions:
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
 * <p>All methods are safe from any thread. Only {@link #close()} blocks.
 */
public interface LeaderElection extends AutoCloseable {

  /** A builder of an election on the lock of this name. */
  static Builder builder(Redlock redlock, String name, Work work) {
    requireNonNull(work, "work");
    return new Builder(redlock, name, () -> work);
  }

  /**
   * A builder of an election whose work is one blocking task. The task runs on a thread of the
   * {@linkplain Builder#executor executor}, and keeps it. When the work has to stop, the election
   * interrupts that thread, and releases the lock when the task has ended, or after {@link
   * Builder#stopTimeout}. When the task returns by itself, the instance {@linkplain #resign()
   * resigns}. When it throws, the instance releases the lock, and asks for it again after a pause.
   */
  static Builder builder(Redlock redlock, String name, Task task) {
    requireNonNull(task, "task");
    return new Builder(redlock, name, () -> new TaskWork(task));
  }

  /** Begins to ask for the lock. Does nothing if the election is already started. */
  void start();

  /**
   * Stops the work, releases the lock, and does not ask for it again until {@link #start}. First
   * waits until the work has stopped, for {@link Builder#stopTimeout} at most; then until the lock
   * is released, for one node timeout at most. Then completes. Never fails.
   */
  CompletionStage<Void> stop();

  /** As {@link #stop}, until {@link #resume}. Does nothing if the election is not started. */
  CompletionStage<Void> pause();

  /** Asks for the lock again after {@link #pause}. */
  void resume();

  /** Stops the work, releases the lock, and waits for it again. Does nothing if no work runs. */
  CompletionStage<Void> resign();

  /** The current state. */
  State state();

  /** The lease under which this instance works, or null. */
  @Nullable Lease lease();

  /** Calls {@link #stop()}, and waits for it for {@link Builder#stopTimeout} at most. */
  @Override
  void close();

  /** The state of an instance. */
  enum State {
    /** Not started, or stopped. */
    IDLE,
    /** Asks for the lock for the first time since the election was started or resumed. */
    ACQUIRING,
    /** Holds the lock and works. */
    WORKING,
    /** Works; the last extension is more than half a lease time ago, and the client retries it. */
    RENEWING,
    /** Paused; does not ask for the lock. */
    PAUSED,
    /** Waits: another instance holds the lock, too few nodes vote, or a pause lasts. */
    WAITING,
    /** Stops the work, then releases the lock. */
    RELEASING
  }

  /** Why work has to stop. */
  enum StopReason {
    /** The validity of the lease is about to end: it could not be extended. */
    LEASE_ENDING,
    /** The lease has ended: lost, expired while the process was paused, or at its hold cap. */
    LEASE_LOST,
    /** {@link Work#startWork} failed. */
    WORK_FAILED,
    /** {@link LeaderElection#resign()} was called. */
    RESIGNED,
    /** {@link LeaderElection#pause()} was called. */
    PAUSED,
    /**
     * {@link LeaderElection#stop()}, {@link LeaderElection#close()} or {@link
     * Redlock#close(Duration)} was called.
     */
    STOPPED
  }

  /**
   * The work that one instance at a time does. The election calls its methods on the executor of
   * the builder. Calls do not overlap, with one exception: the election calls {@link #stopWork}
   * even while {@link #startWork} still blocks its thread. With the default executor both methods
   * may block. If you give an executor to the builder, it needs a free thread for {@code stopWork}.
   */
  interface Work {
    /**
     * Starts the work under this lease. The stage completes when the work has started. If it fails,
     * or this method throws, the instance releases the lock and asks for it again after a pause.
     */
    CompletionStage<?> startWork(Lease lease);

    /**
     * Stops the work. Called exactly once for each call of {@link #startWork}, even if that call
     * failed or has not completed yet. The instance releases the lock when the stage completes,
     * normally or exceptionally, or after {@link Builder#stopTimeout}. It does not ask for the lock
     * again before the stage has completed.
     */
    CompletionStage<?> stopWork(StopReason reason);
  }

  /** Work that is one blocking task. */
  @FunctionalInterface
  interface Task {
    /**
     * Works under this lease until the thread is interrupted. The task must end then: it lets the
     * {@code InterruptedException} pass, or returns.
     */
    void run(Lease lease) throws Exception;
  }

  /**
   * Receives the events of the election, one after another. The client logs exceptions of its
   * methods.
   */
  interface Listener {
    /** The state changed. */
    default void onState(State from, State to) {}

    /** A method of {@link Work} failed, or did not complete in time. */
    default void onFailure(Throwable failure) {}
  }

  /** Configures an election. Every setter returns this builder. Not safe for concurrent use. */
  final class Builder {
    /** About 73 years, the longest timeout: sums with it do not overflow. */
    private static final Duration UNBOUNDED = Duration.ofNanos(Long.MAX_VALUE / 4);

    private static final Duration MAX_PAUSE = Duration.ofDays(1);

    private final Redlock redlock;
    private final String name;
    private final Supplier<Work> works;
    private LockOptions options;
    private @Nullable Duration stopMargin;
    private @Nullable Duration stopTimeout;
    private Duration retryPause = Duration.ofSeconds(1);
    private Listener listener = new Listener() {};
    private @Nullable Executor executor;
    private @Nullable Supplier<? extends CompletionStage<?>> liveness;

    private Builder(Redlock redlock, String name, Supplier<Work> works) {
      this.redlock = requireNonNull(redlock, "redlock");
      this.name = requireNonNull(name, "name");
      this.works = works;
      options = redlock.defaultOptions();
    }

    /**
     * The options of the lock. Default: those of the client. Without automatic extension and
     * without a {@linkplain #liveness probe}, a tenure lasts one lease time, unless the work
     * extends its lease. If the options contain a hold cap, a tenure lasts no longer than this cap;
     * otherwise a tenure has no cap.
     */
    public Builder options(LockOptions options) {
      this.options = requireNonNull(options, "options");
      return this;
    }

    /**
     * How long before the end of validity the election tells the work to stop: the time that the
     * work needs to stop. 0 to half of the lease time; default a sixth of the lease time.
     */
    public Builder stopMargin(Duration stopMargin) {
      this.stopMargin = requireNonNull(stopMargin, "stopMargin");
      return this;
    }

    /** How long to wait for work to stop before the lock is released. Default: the lease time. */
    public Builder stopTimeout(Duration stopTimeout) {
      this.stopTimeout = requireNonNull(stopTimeout, "stopTimeout");
      return this;
    }

    /**
     * The pause after a failure. It doubles with each further failure, up to 30 times this value.
     * Default 1 s, at most 1 day.
     */
    public Builder retryPause(Duration retryPause) {
      this.retryPause = requireNonNull(retryPause, "retryPause");
      return this;
    }

    /**
     * A liveness probe of the work, for example a task in its queue. Default: none. Work that hangs
     * then keeps the lock while its process runs. With a probe, only the election extends the
     * lease, after each third of the lease time, when the stage of a new probe has completed
     * normally. If the probe fails or does not complete, the election tells the work to stop when
     * the lease is about to end, and another instance takes over.
     *
     * @param probe called on the executor; must not block
     */
    public Builder liveness(Supplier<? extends CompletionStage<?>> probe) {
      this.liveness = requireNonNull(probe, "probe");
      return this;
    }

    /** The listener. Default: none. */
    public Builder listener(Listener listener) {
      this.listener = requireNonNull(listener, "listener");
      return this;
    }

    /**
     * The executor that calls work and listener. Default: threads of the client, even if the client
     * has a callback executor, so that {@link Work#stopWork} never waits for other callbacks. If
     * the executor given here rejects a task, the task runs on such a thread.
     */
    public Builder executor(Executor executor) {
      this.executor = requireNonNull(executor, "executor");
      return this;
    }

    /**
     * Makes the election. It does nothing before {@link LeaderElection#start}.
     *
     * @throws InvalidOptionException if a value is out of range
     * @throws IllegalArgumentException if the client neither was made by {@link Redlock#builder()}
     *     nor {@linkplain dev.redlock.operations.Operations#unwrap decorates} such a client
     */
    public LeaderElection build() {
      Duration leaseTime = options.leaseTime();
      Duration margin = stopMargin != null ? stopMargin : leaseTime.dividedBy(6);
      if (margin.isNegative() || margin.compareTo(leaseTime.dividedBy(2)) > 0) {
        String rule = "must lie between 0 and half of leaseTime " + Printable.of(leaseTime);
        throw InvalidOptionException.of("stopMargin", margin, rule);
      }
      Duration timeout = stopTimeout != null ? stopTimeout : leaseTime;
      if (timeout.isNegative() || timeout.isZero()) {
        throw InvalidOptionException.of("stopTimeout", timeout, "must be positive");
      }
      if (retryPause.isNegative() || retryPause.isZero() || retryPause.compareTo(MAX_PAUSE) > 0) {
        throw InvalidOptionException.of(
            "retryPause", retryPause, "must be positive and not longer than 1 day");
      }
      LockOptions uncapped = options.withoutDefaultHoldCap();
      Work work = works.get();
      Election election =
          new Election(
              redlock,
              redlock.operations().unwrap(ElectionClient.class),
              new ElectionConfig(
                  name,
                  liveness == null ? uncapped : uncapped.toBuilder().autoExtend(false).build(),
                  margin,
                  min(timeout, UNBOUNDED),
                  retryPause,
                  liveness),
              work,
              listener,
              executor);
      if (work instanceof TaskWork task) {
        task.belongsTo(election);
      }
      return election;
    }

    private static Duration min(Duration a, Duration b) {
      return a.compareTo(b) <= 0 ? a : b;
    }
  }
}
