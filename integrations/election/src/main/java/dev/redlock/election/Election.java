package dev.redlock.election;

import com.google.common.util.concurrent.MoreExecutors;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.Redlock;
import dev.redlock.RedlockClosedException;
import dev.redlock.internal.election.ElectionClient;
import dev.redlock.spi.Printable;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state machine of an election. All events run in one serial queue, on the thread that brings
 * one; user code never runs in the queue.
 *
 * <p>Every tenure ends in this order: work is told to stop, work has stopped, the lease is
 * released. If the lease were released first, the successor could start while the old work still
 * runs. If the instance campaigned again while its old work hangs, it could work twice at a time.
 */
final class Election implements LeaderElection {
  private static final Logger LOG = LoggerFactory.getLogger(Redlock.class);
  private static final Duration FOREVER = Duration.ofDays(36_500);
  private static final int MAX_PAUSES = 30;

  private final ElectionClient client;
  private final DistributedLock lock;
  private final ElectionConfig config;
  private final Work work;
  private final Listener listener;
  private final Executor user;
  private final Executor listeners;
  private final Executor queue =
      MoreExecutors.newSequentialExecutor(MoreExecutors.directExecutor());
  private final long leaseNanos;
  private final long marginNanos;

  // Confined to the serial queue.
  private boolean wanted;
  private boolean paused;
  private int failures;
  private @Nullable CompletableFuture<?> acquiring;
  private @Nullable Tenure tenure;

  /** The last tenure, if its work did not stop in time and has not stopped yet. */
  private @Nullable Tenure stuck;

  private Time.@Nullable Cancellable timer;
  private final List<CompletableFuture<Void>> leaving = new ArrayList<>();

  // Written in the serial queue, read by any thread.
  private volatile State state = State.IDLE;
  private volatile @Nullable Lease lease;

  Election(
      Redlock redlock,
      ElectionClient client,
      ElectionConfig config,
      Work work,
      Listener listener,
      @Nullable Executor executor) {
    this.client = client;
    this.config = config;
    this.work = work;
    this.listener = listener;
    lock = redlock.lock(config.name(), config.options());
    user = client.executor(executor);
    listeners = MoreExecutors.newSequentialExecutor(user);
    leaseNanos = config.options().leaseTime().toNanos();
    marginNanos = config.stopMargin().toNanos();
  }

  // What a user calls.

  @Override
  public void start() {
    serially(
        () -> {
          if (!wanted) {
            wanted = true;
            paused = false;
            failures = 0;
            campaignFirst();
          }
        });
  }

  @Override
  public CompletionStage<Void> stop() {
    return leave(
        StopReason.STOPPED,
        () -> {
          wanted = false;
          return true;
        });
  }

  @Override
  public CompletionStage<Void> pause() {
    return leave(
        StopReason.PAUSED,
        () -> {
          paused = wanted;
          return wanted;
        });
  }

  @Override
  public CompletionStage<Void> resign() {
    return leave(StopReason.RESIGNED, () -> tenure != null);
  }

  @Override
  public void resume() {
    serially(
        () -> {
          if (paused) {
            paused = false;
            campaignFirst();
          }
        });
  }

  @Override
  public State state() {
    return state;
  }

  @Override
  public @Nullable Lease lease() {
    return lease;
  }

  @Override
  public void close() {
    client.await(stop(), config.stopTimeout().toNanos());
  }

  /**
   * @param decision sets what is wanted from now on; false if there is nothing to leave
   */
  private CompletionStage<Void> leave(StopReason reason, BooleanSupplier decision) {
    CompletableFuture<Void> left = new CompletableFuture<>();
    serially(
        () -> {
          if (!decision.getAsBoolean()) {
            left.complete(null);
            return;
          }
          Tenure t = tenure;
          if (t != null) {
            leaving.add(left);
            end(t, reason);
          } else {
            stopAcquiring();
            rest();
            left.complete(null);
          }
        });
    return left.minimalCompletionStage();
  }

  // Campaigning.

  private boolean mayCampaign() {
    return wanted && !paused && tenure == null && stuck == null && acquiring == null;
  }

  private void campaignFirst() {
    if (!mayCampaign()) {
      return;
    }
    disarm();
    become(State.ACQUIRING);
    acquire(lock.tryAcquireAsync(), got -> got, true);
  }

  private void waitForTurn() {
    if (mayCampaign()) {
      become(State.WAITING);
      acquire(lock.acquireAsync(FOREVER), Optional::of, false);
    }
  }

  private <T> void acquire(
      CompletableFuture<T> future, Function<T, Optional<Lease>> granted, boolean first) {
    acquiring = future;
    future.whenComplete(
        (answer, failure) -> {
          Optional<Lease> got = failure == null ? granted.apply(answer) : Optional.empty();
          serially(() -> acquired(future, got, failure, first));
        });
  }

  private void acquired(
      CompletableFuture<?> future,
      Optional<Lease> got,
      @Nullable Throwable failure,
      boolean first) {
    if (acquiring != future) {
      got.ifPresent(Lease::releaseAsync); // Given up meanwhile.
      return;
    }
    acquiring = null;
    if (failure != null) {
      refused(failure, first);
    } else {
      got.ifPresentOrElse(this::granted, this::waitForTurn);
    }
  }

  private void refused(Throwable failure, boolean first) {
    Throwable cause = unwrap(failure);
    if (cause instanceof RedlockClosedException) {
      wanted = false;
      rest();
    } else if (first) {
      waitForTurn(); // It keeps trying while too few nodes answer.
    } else {
      report(cause);
      waitAfterFailure();
    }
  }

  private void waitAfterFailure() {
    failures++;
    waitFor(
        config.retryPause().multipliedBy(Math.min(MAX_PAUSES, 1L << Math.min(failures - 1, 5))));
  }

  private void waitFor(Duration pause) {
    become(State.WAITING);
    arm(pause.toNanos(), this::waitForTurn);
  }

  private void stopAcquiring() {
    disarm();
    CompletableFuture<?> future = acquiring;
    acquiring = null;
    if (future != null) {
      future.cancel(false);
    }
  }

  // A tenure.

  private void granted(Lease got) {
    if (!mayCampaign()) {
      got.releaseAsync();
      return;
    }
    Tenure t = new Tenure(got);
    tenure = t;
    lease = got;
    become(State.WORKING);
    client.log(
        false,
        "elections: this instance leads",
        () -> name() + ": this instance leads, with token " + got.fencingToken());
    // Not by whenEnded: its dependents wait for each other, and work may block in one of its own.
    try {
      client.onEnd(got, end -> serially(() -> onEnded(t, end)));
    } catch (Throwable e) { // The user may have decorated the lease.
      report(e);
      end(t, StopReason.WORK_FAILED);
      return;
    }
    user.execute(() -> start(t));
    watch(t);
    client.onClosing(got, () -> serially(() -> onClosing(t)));
  }

  /** Called on the user's executor. A tenure whose work is not started must not keep the lease. */
  private void start(Tenure t) {
    boolean begun;
    try {
      begun = t.begin();
    } catch (Throwable e) { // The clock may be the user's.
      serially(() -> onStarted(t, e));
      return;
    }
    if (begun) {
      call(() -> work.startWork(t.lease), failure -> onStarted(t, failure));
    } else {
      serially(() -> notStarted(t));
    }
  }

  /** The lease was not valid at that moment, but an extension on its way may have made it valid. */
  private void notStarted(Tenure t) {
    if (t == tenure && t.reason == null) {
      end(t, StopReason.LEASE_LOST);
    }
  }

  private void onStarted(Tenure t, @Nullable Throwable failure) {
    if (failure == null) {
      failures = 0;
      return;
    }
    report(failure);
    if (t == tenure && t.reason == null) {
      end(t, StopReason.WORK_FAILED);
    }
  }

  private void onEnded(Tenure t, LeaseEnd end) {
    if (t == tenure && t.reason == null) {
      end(t, StopReason.LEASE_LOST);
    } else if (t == tenure && !t.releasing) {
      report(timeout("work on " + config.name() + " had not stopped when its lease ended: " + end));
      if (client.isClosed()) {
        // Replaces the timer of the client, which ends with it.
        arm(config.stopTimeout().toNanos(), () -> stopTimedOut(t));
      }
    }
  }

  /** The client waits for the end of the tenure before it closes. */
  private void onClosing(Tenure t) {
    if (t == tenure) {
      wanted = false;
      end(t, StopReason.STOPPED);
    }
  }

  /** Checks the validity: below half of the lease time an extension is overdue. */
  private void watch(Tenure t) {
    if (t != tenure || t.reason != null) {
      return;
    }
    long left;
    try {
      left = t.lease.remainingValidity().toNanos();
    } catch (Throwable e) { // The clock may be the user's. Without it nothing stops work in time.
      report(e);
      end(t, StopReason.LEASE_ENDING);
      return;
    }
    Supplier<? extends CompletionStage<?>> liveness = config.liveness();
    if (left <= marginNanos) {
      end(t, left <= 0 ? StopReason.LEASE_LOST : StopReason.LEASE_ENDING);
    } else if (liveness != null) {
      become(left <= leaseNanos / 2 ? State.RENEWING : State.WORKING);
      boolean due = left <= leaseNanos * 2 / 3;
      if (due) {
        probe(t, liveness);
      }
      arm(
          due ? Math.min(left - marginNanos, leaseNanos / 20) : left - leaseNanos * 2 / 3,
          () -> watch(t));
    } else if (left <= leaseNanos / 2 && config.options().autoExtend()) {
      become(State.RENEWING);
      t.lease.extendAsync(); // The client extends it too. One of the two extensions is enough.
      arm(Math.min(left - marginNanos, leaseNanos / 20), () -> watch(t));
    } else {
      become(State.WORKING);
      long until = config.options().autoExtend() ? leaseNanos / 2 : marginNanos;
      arm(left - until, () -> watch(t));
    }
  }

  /**
   * Extends the lease if the work completes a probe. One probe at a time: if the work hangs, probes
   * must not pile up.
   */
  private void probe(Tenure t, Supplier<? extends CompletionStage<?>> liveness) {
    if (t.probing) {
      return;
    }
    t.probing = true;
    user.execute(
        () ->
            call(
                liveness::get,
                failure -> {
                  t.probing = false;
                  if (failure != null) {
                    report(failure);
                  } else if (t == tenure && t.reason == null) {
                    t.lease.extendAsync();
                  }
                }));
  }

  private void end(Tenure t, StopReason reason) {
    if (t.reason != null) {
      return; // It is ending already.
    }
    boolean called = t.stop(reason);
    become(State.RELEASING);
    client.log(
        reason == StopReason.LEASE_LOST || reason == StopReason.LEASE_ENDING,
        "elections: this instance stops: " + reason,
        () -> name() + ": this instance stops leading: " + reason);
    if (!called) {
      release(t);
      return;
    }
    arm(config.stopTimeout().toNanos(), () -> stopTimedOut(t));
    user.execute(
        () ->
            call(
                () -> work.stopWork(reason),
                failure -> {
                  if (failure != null) {
                    report(failure);
                  }
                  stopped(t);
                }));
  }

  private void stopTimedOut(Tenure t) {
    if (t != tenure || t.releasing) {
      return;
    }
    report(
        timeout(
            "work on "
                + config.name()
                + " has not stopped within "
                + Printable.of(config.stopTimeout())));
    stuck = t;
    release(t);
  }

  private void stopped(Tenure t) {
    if (stuck == t) {
      stuck = null;
      if (tenure == null) {
        next(t);
      }
    } else {
      release(t);
    }
  }

  private void release(Tenure t) {
    if (t.releasing) {
      return;
    }
    t.releasing = true;
    disarm();
    t.lease.releaseAsync().whenComplete((done, failure) -> serially(() -> released(t)));
  }

  private void released(Tenure t) {
    tenure = null;
    lease = null;
    List<CompletableFuture<Void>> gone = List.copyOf(leaving);
    leaving.clear();
    if (stuck == null) {
      next(t);
    }
    user.execute(() -> gone.forEach(left -> left.complete(null)));
  }

  private void next(Tenure over) {
    if (!wanted || paused) {
      rest();
    } else if (over.reason == StopReason.WORK_FAILED) {
      waitAfterFailure();
    } else if (over.reason == StopReason.RESIGNED) {
      waitFor(config.retryPause()); // Other instances come first.
    } else {
      waitForTurn();
    }
  }

  private void rest() {
    if (tenure == null && stuck == null) {
      become(!wanted ? State.IDLE : paused ? State.PAUSED : state);
    }
  }

  // Callbacks, timers.

  private interface Call {
    @Nullable CompletionStage<?> run() throws Exception;
  }

  /** Calls user code, and handles its result in the queue. */
  private void call(Call callback, Consumer<@Nullable Throwable> then) {
    CompletionStage<?> stage;
    try {
      stage = callback.run();
    } catch (Throwable e) {
      serially(() -> then.accept(e));
      return;
    }
    if (stage == null) {
      serially(() -> then.accept(new NullPointerException("the callback returned null")));
    } else {
      stage.whenComplete(
          (done, failure) -> serially(() -> then.accept(failure == null ? null : unwrap(failure))));
    }
  }

  private void become(State to) {
    State from = state;
    if (from != to) {
      state = to;
      tell(l -> l.onState(from, to));
    }
  }

  /** Without a trace, which would show the inside of the client. */
  private static TimeoutException timeout(String message) {
    TimeoutException failure = new TimeoutException(message);
    failure.setStackTrace(new StackTraceElement[0]);
    return failure;
  }

  private String name() {
    return "election on " + Printable.of(config.name());
  }

  private void report(Throwable failure) {
    LOG.warn("the {} failed", name(), failure);
    tell(l -> l.onFailure(failure));
  }

  private void tell(Consumer<Listener> event) {
    listeners.execute(
        () -> {
          try {
            event.accept(listener);
          } catch (Throwable e) {
            client.report("a listener of an election", Printable.of(config.name()), e);
          }
        });
  }

  private void arm(long delayNanos, Runnable task) {
    disarm();
    timer = client.schedule(() -> serially(task), Math.max(0, delayNanos));
  }

  private void serially(Runnable event) {
    queue.execute(() -> guarded(event));
  }

  private void guarded(Runnable event) {
    try {
      event.run();
    } catch (Throwable e) {
      client.report("an event of an election", Printable.of(config.name()), e);
    }
  }

  private void disarm() {
    Time.Cancellable armed = timer;
    timer = null;
    if (armed != null) {
      armed.cancel();
    }
  }

  private static Throwable unwrap(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  @Override
  public String toString() {
    return "LeaderElection[" + Printable.of(config.name()) + ", " + state + "]";
  }
}
