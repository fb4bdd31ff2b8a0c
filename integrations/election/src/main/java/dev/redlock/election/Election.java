package dev.redlock.election;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.RedlockClosedException;
import dev.redlock.internal.election.ElectionClient;
import dev.redlock.internal.text.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of an election: whether the instance wants to lead, and its campaign for the
 * lease. What happens under the lease is a {@link Tenure}. All events run in one {@link
 * ElectionQueue}.
 */
final class Election implements LeaderElection {
  private static final Duration FOREVER = Duration.ofDays(36_500);
  private static final int MAX_PAUSES = 30;

  private final ElectionClient client;
  private final DistributedLock lock;
  private final ElectionConfig config;
  private final Work work;
  private final ElectionQueue queue;
  private final ElectionQueue.Timer timer;

  // Confined to the queue.
  private boolean wanted;
  private boolean paused;
  private int failures;
  private @Nullable CompletableFuture<?> acquiring;

  /** The last tenure, until its lease is released and its work has stopped. */
  private @Nullable Tenure tenure;

  private final List<CompletableFuture<Void>> leaving = new ArrayList<>();

  // Written in the queue, read by any thread.
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
    lock = redlock.lock(config.name(), config.options());
    queue = new ElectionQueue(client, Printable.of(config.name()), listener, executor);
    timer = queue.new Timer();
  }

  // What a user calls.

  @Override
  public void start() {
    queue.run(
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
    return leave(StopReason.RESIGNED, () -> held() != null);
  }

  @Override
  public void resume() {
    queue.run(
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
    queue.run(
        () -> {
          if (!decision.getAsBoolean()) {
            left.complete(null);
            return;
          }
          Tenure held = held();
          if (held != null) {
            leaving.add(left);
            held.end(reason);
          } else {
            stopAcquiring();
            rest();
            left.complete(null);
          }
        });
    return left.minimalCompletionStage();
  }

  /** The tenure whose lease is not released yet. */
  private @Nullable Tenure held() {
    Tenure last = tenure;
    return last == null || last.isReleased() ? null : last;
  }

  // The campaign.

  private boolean mayCampaign() {
    return wanted && !paused && tenure == null && acquiring == null;
  }

  private void campaignFirst() {
    if (!mayCampaign()) {
      return;
    }
    timer.disarm();
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
          queue.run(() -> acquired(future, got, failure, first));
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

  private void granted(Lease got) {
    if (!mayCampaign()) {
      got.releaseAsync();
      return;
    }
    Tenure begun = new Tenure(this, client, config, work, queue, got);
    tenure = begun;
    lease = got;
    begun.begin();
  }

  private void refused(Throwable failure, boolean first) {
    Throwable cause = ElectionQueue.unwrap(failure);
    if (cause instanceof RedlockClosedException) {
      wanted = false;
      rest();
    } else if (first) {
      waitForTurn(); // It keeps trying while too few nodes answer.
    } else {
      queue.report(cause);
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
    timer.arm(pause.toNanos(), this::waitForTurn);
  }

  private void stopAcquiring() {
    timer.disarm();
    CompletableFuture<?> future = acquiring;
    acquiring = null;
    if (future != null) {
      future.cancel(false);
    }
  }

  // Events of the tenure, in the queue.

  void onWorkStarted() {
    failures = 0;
  }

  /** The client closes: this instance leads no more. */
  void onClosing() {
    wanted = false;
  }

  /** The lease is released. If work is stuck, {@link #onOver} follows when it has stopped. */
  void onReleased(Tenure ended) {
    lease = null;
    List<CompletableFuture<Void>> gone = List.copyOf(leaving);
    leaving.clear();
    if (!ended.isStuck()) {
      onOver(ended);
    }
    queue.runOutside(() -> gone.forEach(left -> left.complete(null)));
  }

  /** The lease is released and work has stopped: the next campaign may begin. */
  void onOver(Tenure over) {
    tenure = null;
    if (!wanted || paused) {
      rest();
    } else if (over.reason() == StopReason.WORK_FAILED) {
      waitAfterFailure();
    } else if (over.reason() == StopReason.RESIGNED) {
      waitFor(config.retryPause()); // Other instances come first.
    } else {
      waitForTurn();
    }
  }

  private void rest() {
    if (tenure == null) {
      become(!wanted ? State.IDLE : paused ? State.PAUSED : state);
    }
  }

  void become(State to) {
    State from = state;
    if (from != to) {
      state = to;
      queue.tell(l -> l.onState(from, to));
    }
  }

  @Override
  public String toString() {
    return "LeaderElection[" + Printable.of(config.name()) + ", " + state + "]";
  }
}
