package dev.redlock.election;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.election.LeaderElection.State;
import dev.redlock.election.LeaderElection.StopReason;
import dev.redlock.election.LeaderElection.Work;
import dev.redlock.internal.election.ElectionClient;
import dev.redlock.internal.text.Printable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One period of leadership: one lease, and the work that is done under it. Confined to the queue of
 * the election, except for {@link #startWork}.
 *
 * <p>Every tenure ends in this order: work is told to stop, work has stopped, the lease is
 * released. If the lease were released first, the successor could start while the old work still
 * runs. If work does not stop in time, the lease is released all the same, but the tenure is over
 * only when work has stopped. If the instance campaigned again before that, it could work twice at
 * a time.
 */
final class Tenure {
  private final Election election;
  private final ElectionClient client;
  private final ElectionConfig config;
  private final Work work;
  private final ElectionQueue queue;
  private final Lease lease;
  private final StartGate gate;
  private final ElectionQueue.Timer timer;
  private final long leaseNanos;
  private final long marginNanos;

  /** Whether a liveness probe of the work has not completed yet. */
  private boolean probing;

  private boolean releasing;
  private boolean released;

  /** Whether work has not stopped in time, and not since. */
  private boolean stuck;

  Tenure(
      Election election,
      ElectionClient client,
      ElectionConfig config,
      Work work,
      ElectionQueue queue,
      Lease lease) {
    this.election = election;
    this.client = client;
    this.config = config;
    this.work = work;
    this.queue = queue;
    this.lease = lease;
    gate = new StartGate(lease);
    timer = queue.new Timer();
    leaseNanos = config.options().leaseTime().toNanos();
    marginNanos = config.stopMargin().toNanos();
  }

  /** Why it ends; null while it does not. */
  @Nullable StopReason reason() {
    return gate.reason();
  }

  private boolean isEnding() {
    return gate.reason() != null;
  }

  boolean isReleased() {
    return released;
  }

  boolean isStuck() {
    return stuck;
  }

  // Work.

  /** Starts the work and watches the lease. */
  void begin() {
    election.become(State.WORKING);
    queue.log(
        false,
        "elections: this instance leads",
        () -> "this instance leads, with token " + lease.fencingToken());
    // Not by whenEnded: its dependents wait for each other, and work may block in one of its own.
    try {
      client.onEnd(lease, end -> queue.run(() -> onEnded(end)));
    } catch (Throwable e) { // The user may have decorated the lease.
      queue.report(e);
      end(StopReason.WORK_FAILED);
      return;
    }
    queue.runOutside(this::startWork);
    watch();
    client.onClosing(lease, () -> queue.run(this::onClosing));
  }

  /** Called on the user's executor. A tenure whose work is not started must not keep the lease. */
  private void startWork() {
    boolean started;
    try {
      started = gate.start();
    } catch (Throwable e) { // The clock may be the user's.
      queue.run(() -> onStarted(e));
      return;
    }
    if (started) {
      queue.callHere(() -> work.startWork(lease), this::onStarted);
    } else {
      // The lease was not valid, but an extension on its way may have made it valid meanwhile.
      queue.run(() -> end(StopReason.LEASE_LOST));
    }
  }

  private void onStarted(@Nullable Throwable failure) {
    if (failure == null) {
      election.onWorkStarted();
      return;
    }
    queue.report(failure);
    end(StopReason.WORK_FAILED);
  }

  /** Checks the validity: below half of the lease time an extension is overdue. */
  private void watch() {
    if (isEnding()) {
      return;
    }
    long left;
    try {
      left = lease.remainingValidity().toNanos();
    } catch (Throwable e) { // The clock may be the user's. Without it nothing stops work in time.
      queue.report(e);
      end(StopReason.LEASE_ENDING);
      return;
    }
    Supplier<? extends CompletionStage<?>> liveness = config.liveness();
    if (left <= marginNanos) {
      end(left <= 0 ? StopReason.LEASE_LOST : StopReason.LEASE_ENDING);
    } else if (liveness != null) {
      election.become(left <= leaseNanos / 2 ? State.RENEWING : State.WORKING);
      boolean due = left <= leaseNanos * 2 / 3;
      if (due) {
        probe(liveness);
      }
      timer.arm(
          due ? Math.min(left - marginNanos, leaseNanos / 20) : left - leaseNanos * 2 / 3,
          this::watch);
    } else if (left <= leaseNanos / 2 && config.options().autoExtend()) {
      election.become(State.RENEWING);
      try { // The user may have decorated the lease.
        lease.extendAsync(); // The client extends it too. One of the two extensions is enough.
      } catch (Throwable e) {
        queue.report(e);
      }
      timer.arm(Math.min(left - marginNanos, leaseNanos / 20), this::watch);
    } else {
      election.become(State.WORKING);
      long until = config.options().autoExtend() ? leaseNanos / 2 : marginNanos;
      timer.arm(left - until, this::watch);
    }
  }

  /**
   * Extends the lease if the work completes a probe. One probe at a time: if the work hangs, probes
   * must not pile up.
   */
  private void probe(Supplier<? extends CompletionStage<?>> liveness) {
    if (probing) {
      return;
    }
    probing = true;
    queue.call(
        liveness::get,
        failure -> {
          probing = false;
          if (failure != null) {
            queue.report(failure);
          } else if (!isEnding()) {
            lease.extendAsync();
          }
        });
  }

  // The end.

  private void onEnded(LeaseEnd end) {
    if (!isEnding()) {
      end(StopReason.LEASE_LOST);
    } else if (!releasing) {
      reportTimeout("had not stopped when its lease ended: " + end);
      if (client.isClosed()) {
        // Replaces the timer of the client, which ends with it.
        timer.arm(config.stopTimeout().toNanos(), this::stopTimedOut);
      }
    }
  }

  /** The client waits for the end of the tenure before it closes. */
  private void onClosing() {
    if (!released) {
      election.onClosing();
      end(StopReason.STOPPED);
    }
  }

  /**
   * Tells work to stop, and releases the lease after that. Does nothing if it is ending already.
   */
  void end(StopReason reason) {
    if (isEnding()) {
      return;
    }
    boolean started = gate.stop(reason);
    election.become(State.RELEASING);
    queue.log(
        reason == StopReason.LEASE_LOST || reason == StopReason.LEASE_ENDING,
        "elections: this instance stops: " + reason,
        () -> "this instance stops leading: " + reason);
    if (!started) {
      release();
      return;
    }
    timer.arm(config.stopTimeout().toNanos(), this::stopTimedOut);
    queue.call(
        () -> work.stopWork(reason),
        failure -> {
          if (failure != null) {
            queue.report(failure);
          }
          stopped();
        });
  }

  private void stopTimedOut() {
    if (!releasing) {
      reportTimeout("has not stopped within " + Printable.of(config.stopTimeout()));
      stuck = true;
      release();
    }
  }

  /** Without a trace, which would show the inside of the client. */
  private void reportTimeout(String what) {
    TimeoutException failure = new TimeoutException("work on " + config.name() + " " + what);
    failure.setStackTrace(new StackTraceElement[0]);
    queue.report(failure);
  }

  /** Perhaps called twice: the stage is the user's. */
  private void stopped() {
    if (!stuck) {
      release();
      return;
    }
    stuck = false;
    if (released) {
      election.onOver(this);
    }
  }

  private void release() {
    if (releasing) {
      return;
    }
    releasing = true;
    timer.disarm();
    CompletionStage<?> release;
    try {
      release = lease.releaseAsync();
    } catch (Throwable e) { // The user may have decorated the lease.
      queue.report(e);
      release = CompletableFuture.completedFuture(null);
    }
    release.whenComplete(
        (done, failure) ->
            queue.run(
                () -> {
                  released = true;
                  election.onReleased(this);
                }));
  }
}
