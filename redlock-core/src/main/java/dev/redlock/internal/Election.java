package dev.redlock.internal;

import com.google.common.util.concurrent.MoreExecutors;
import dev.redlock.DistributedLock;
import dev.redlock.LeaderElection;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.RedlockClosedException;
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
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of an election. All events run in one serial queue, worked off by whoever
 * brings one; user code never runs in it.
 *
 * <p>A term of office ends in this order, whatever ends it: work is told to stop, has stopped, the
 * lease is released. Two histories that this order is for: handing over first would let the
 * successor start while the old work still runs; campaigning again while old work hangs would let
 * one instance work twice.
 */
final class Election implements LeaderElection {
  private static final Duration FOREVER = Duration.ofDays(36_500);
  private static final int MOST_PAUSES = 30;

  private final Client client;
  private final Time time;
  private final DistributedLock lock;
  private final Elections.Terms terms;
  private final Work work;
  private final Listener listener;
  private final Executor user;
  private final Executor listeners;
  private final Executor serial =
      MoreExecutors.newSequentialExecutor(MoreExecutors.directExecutor());
  private final long leaseNanos;
  private final long marginNanos;

  // Confined to the serial queue.
  private boolean wanted;
  private boolean paused;
  private int failures;
  private @Nullable CompletableFuture<?> asking;
  private @Nullable Term term;
  private @Nullable Term stuck;
  private Time.@Nullable Cancellable timer;
  private final List<CompletableFuture<Void>> leavers = new ArrayList<>();

  /** Written in the serial queue, read by anybody. */
  private volatile State state = State.IDLE;

  /** Written in the serial queue, read by anybody. */
  private volatile @Nullable Lease lease;

  Election(Client client, Elections.Terms terms, Work work, Listener listener, Executor executor) {
    this.client = client;
    this.terms = terms;
    this.work = work;
    this.listener = listener;
    time = client.time();
    lock = client.lock(terms.name(), terms.options());
    user = new NeverRefusing(executor); // Work has to be told to stop all the same.
    listeners = MoreExecutors.newSequentialExecutor(user);
    leaseNanos = terms.options().leaseTime().toNanos();
    marginNanos = terms.stopMargin().toNanos();
  }

  // What a user calls.

  @Override
  public void start() {
    serial.execute(
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
    return leave(StopReason.RESIGNED, () -> term != null);
  }

  @Override
  public void resume() {
    serial.execute(
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
    Completion<Boolean> stopped = new Completion<>();
    stop().thenRun(() -> stopped.succeed(true));
    Blocking.awaitUninterruptibly(stopped, terms.stopTimeout().toNanos(), time);
  }

  private interface Decision {
    /** Notes what is wanted from now on; false if there is nothing to leave. */
    boolean take();
  }

  private CompletionStage<Void> leave(StopReason reason, Decision decision) {
    CompletableFuture<Void> left = new CompletableFuture<>();
    serial.execute(
        () -> {
          if (!decision.take()) {
            left.complete(null);
            return;
          }
          Term t = term;
          if (t != null) {
            leavers.add(left);
            end(t, reason);
          } else {
            giveUpAsking();
            rest();
            left.complete(null);
          }
        });
    return left.minimalCompletionStage();
  }

  // Campaigning.

  private boolean mayCampaign() {
    return wanted && !paused && term == null && stuck == null && asking == null;
  }

  private void campaignFirst() {
    if (!mayCampaign()) {
      return;
    }
    disarm();
    become(State.ACQUIRING);
    ask(lock.tryAcquireAsync(), got -> got, true);
  }

  private void waitForTurn() {
    if (mayCampaign()) {
      become(State.WAITING);
      ask(lock.acquireAsync(FOREVER), Optional::of, false);
    }
  }

  private <T> void ask(
      CompletableFuture<T> asked, Function<T, Optional<Lease>> granted, boolean first) {
    asking = asked;
    asked.whenComplete(
        (answer, failure) -> {
          Optional<Lease> got = failure == null ? granted.apply(answer) : Optional.empty();
          serial.execute(() -> answered(asked, got, failure, first));
        });
  }

  private void answered(
      CompletableFuture<?> asked, Optional<Lease> got, @Nullable Throwable failure, boolean first) {
    if (asking != asked) {
      got.ifPresent(Lease::releaseAsync); // Given up meanwhile.
      return;
    }
    asking = null;
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
      waitForTurn(); // Which goes on asking while too few nodes answer.
    } else {
      report(cause);
      waitAfterFailure();
    }
  }

  private void waitAfterFailure() {
    failures++;
    waitFor(
        terms.retryPause().multipliedBy(Math.min(MOST_PAUSES, 1L << Math.min(failures - 1, 5))));
  }

  private void waitFor(Duration pause) {
    become(State.WAITING);
    arm(pause.toNanos(), this::waitForTurn);
  }

  private void giveUpAsking() {
    disarm();
    CompletableFuture<?> asked = asking;
    asking = null;
    if (asked != null) {
      asked.cancel(false);
    }
  }

  // A term of office.

  /**
   * One lease, and the work done under it. Confined to the serial queue, but for {@link #begin}.
   */
  private static final class Term {
    private final Lease lease;
    private boolean begun;
    private boolean called;
    private @Nullable StopReason reason;
    private boolean releasing;

    Term(Lease lease) {
      this.lease = lease;
    }

    /** The one call of startWork begins; false if stopping was faster. */
    synchronized boolean begin() {
      begun = reason == null && lease.isValid();
      called |= begun;
      return begun;
    }

    /** Stopping begins; false if work was never called and never will be. */
    synchronized boolean stop(StopReason why) {
      reason = why;
      return called;
    }
  }

  private void granted(Lease got) {
    if (!mayCampaign()) {
      got.releaseAsync();
      return;
    }
    Term t = new Term(got);
    term = t;
    lease = got;
    become(State.WORKING);
    got.whenEnded().thenAccept(end -> serial.execute(() -> onEnded(t, end)));
    user.execute(
        () -> {
          if (t.begin()) {
            call(() -> work.startWork(got), failure -> onStarted(t, failure));
          }
        });
    watch(t);
  }

  private void onStarted(Term t, @Nullable Throwable failure) {
    if (failure == null) {
      failures = 0;
      return;
    }
    report(failure);
    if (t == term && t.reason == null) {
      end(t, StopReason.WORK_FAILED);
    }
  }

  private void onEnded(Term t, LeaseEnd end) {
    if (t == term && t.reason == null) {
      end(t, StopReason.LEASE_LOST);
    } else if (t == term && !t.releasing) {
      report(
          new TimeoutException(
              "work on " + terms.name() + " has not stopped when its lease ended: " + end));
    }
  }

  /** Looks at the validity: at half of the lease time it is overdue, at the margin it is over. */
  private void watch(Term t) {
    if (t != term || t.reason != null) {
      return;
    }
    long left = t.lease.remainingValidity().toNanos();
    if (left <= marginNanos) {
      end(t, left <= 0 ? StopReason.LEASE_LOST : StopReason.LEASE_ENDING);
    } else if (left <= leaseNanos / 2 && terms.options().autoExtend()) {
      become(State.RENEWING);
      t.lease.extendAsync(); // The lease tries by itself too; whichever comes through.
      arm(Math.min(left - marginNanos, leaseNanos / 20), () -> watch(t));
    } else {
      become(State.WORKING);
      long until = terms.options().autoExtend() ? leaseNanos / 2 : marginNanos;
      arm(left - until, () -> watch(t));
    }
  }

  private void end(Term t, StopReason reason) {
    if (t.reason != null) {
      return; // On its way already.
    }
    boolean called = t.stop(reason);
    become(State.RELEASING);
    if (!called) {
      release(t);
      return;
    }
    arm(terms.stopTimeout().toNanos(), () -> stopTimedOut(t));
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

  private void stopTimedOut(Term t) {
    if (t != term || t.releasing) {
      return;
    }
    report(
        new TimeoutException(
            "work on " + terms.name() + " has not stopped within " + terms.stopTimeout()));
    stuck = t;
    release(t);
  }

  private void stopped(Term t) {
    if (stuck == t) {
      stuck = null;
      if (term == null) {
        next(t);
      }
    } else {
      release(t);
    }
  }

  private void release(Term t) {
    if (t.releasing) {
      return;
    }
    t.releasing = true;
    disarm();
    t.lease.releaseAsync().whenComplete((done, failure) -> serial.execute(() -> released(t)));
  }

  private void released(Term t) {
    term = null;
    lease = null;
    List<CompletableFuture<Void>> gone = List.copyOf(leavers);
    leavers.clear();
    if (stuck == null) {
      next(t);
    }
    user.execute(() -> gone.forEach(left -> left.complete(null)));
  }

  private void next(Term over) {
    if (!wanted || paused) {
      rest();
    } else if (over.reason == StopReason.WORK_FAILED) {
      waitAfterFailure();
    } else if (over.reason == StopReason.RESIGNED) {
      waitFor(terms.retryPause()); // Others first.
    } else {
      waitForTurn();
    }
  }

  private void rest() {
    if (term == null && stuck == null) {
      become(!wanted ? State.IDLE : paused ? State.PAUSED : state);
    }
  }

  // Callbacks, timers.

  private interface Call {
    @Nullable CompletionStage<?> run() throws Exception;
  }

  /** Calls user code, and brings what becomes of it into the queue. */
  private void call(Call callback, Consumer<@Nullable Throwable> then) {
    CompletionStage<?> stage;
    try {
      stage = callback.run();
    } catch (Exception | Error e) {
      serial.execute(() -> then.accept(e));
      return;
    }
    if (stage == null) {
      serial.execute(() -> then.accept(new NullPointerException("the callback returned null")));
    } else {
      stage.whenComplete(
          (done, failure) ->
              serial.execute(() -> then.accept(failure == null ? null : unwrap(failure))));
    }
  }

  private void become(State to) {
    State from = state;
    if (from != to) {
      state = to;
      tell(l -> l.onState(from, to));
    }
  }

  private void report(Throwable failure) {
    client.log().warn("election on {}", terms.name(), failure);
    tell(l -> l.onFailure(failure));
  }

  private void tell(Consumer<Listener> event) {
    listeners.execute(
        () -> {
          try {
            event.accept(listener);
          } catch (RuntimeException e) {
            client.log().warn("a listener of the election on {} failed", terms.name(), e);
          }
        });
  }

  private void arm(long delayNanos, Runnable task) {
    disarm();
    timer = time.schedule(() -> serial.execute(task), Math.max(0, delayNanos));
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
    return "LeaderElection[" + terms.name() + ", " + state + "]";
  }
}
