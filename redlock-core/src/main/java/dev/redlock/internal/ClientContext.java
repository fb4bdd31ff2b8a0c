package dev.redlock.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.operations.OperatorClient.Side;
import dev.redlock.internal.protocol.Randomness;
import dev.redlock.internal.text.HolderMark;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the parts of one client share. All of it is safe from any thread. */
final class ClientContext {
  /** Later than this a timer is late; on a busy machine each is by less. */
  private static final long LATE_NANOS = 2_000_000;

  /** How long a late timer waits, and how often. */
  static final long GRACE_NANOS = 25_000_000;

  private static final int GRACES = 2;

  final Logger log = LoggerFactory.getLogger("dev.redlock.Redlock");
  final Platform platform;
  final FailureLog failures;
  final Randomness randomness;
  final String keyPrefix;

  /** Names this client in the queues of the nodes. */
  final String processName;

  /**
   * Empty until a user asks for it. Of two that threads made at the same time, users get the first.
   */
  final List<Side> operators = new CopyOnWriteArrayList<>();

  final SystemTime systemTime = new SystemTime();
  final Time time;
  final Blocking blocking;
  final NodeSet nodes;

  /** Set once, when the client starts its nodes. */
  private @Nullable SetKeeper set;

  final long nodeTimeoutNanos;
  final CallbackThreads callbackThreads;
  final Executor callbacks;
  final Events events;

  /** Null if the client has no listener. */
  final @Nullable NodeRequestCounts nodeRequests;

  final HintCarriers hints;
  final LeakDetector leaks;

  /** Timers wait until then, because one was late. Timers write and read it, and may lose one. */
  private volatile long graceUntilNanos;

  final BurstLog bursts;
  final LossLog losses = new LossLog(this);
  final Locks locks;
  final ClockLog clocks = new ClockLog(this);
  final Readiness readiness;

  ClientContext(Assembly.Parts parts, Platform platform) {
    this.platform = platform;
    failures = platform.failures(log);
    randomness = platform.randomness(HolderMark.suffix(parts.label()), systemTime);
    keyPrefix = parts.keyPrefix();
    processName = randomness.leaseId().substring(0, 12);
    Time given = parts.time();
    time = given == null ? systemTime : new GuardedTime(given, systemTime, failures);
    blocking = new Blocking(platform, time);
    nodes = new NodeSet(parts.nodes(), failures, log);
    nodeTimeoutNanos = parts.defaults().nodeTimeout().toNanos();
    callbackThreads = new CallbackThreads(platform.callbackThreads(), time, failures);
    callbacks = callbackThreads.preferring(parts.callbackExecutor());
    events = new Events(parts.listeners(), callbacks, time, failures);
    nodeRequests = events.hasListeners() ? new NodeRequestCounts(this) : null;
    hints = new HintCarriers(parts.hints(), failures);
    bursts = new BurstLog(log, time);
    graceUntilNanos = time.nanos();
    leaks = new LeakDetector(parts.traceLeaks(), log);
    locks = new Locks(this);
    readiness = new Readiness(nodes::quorumVotes);
  }

  /**
   * Runs the task at this instant, which comes after the delay; a late one after a grace.
   *
   * <p>A process that was paused (garbage collection, a busy machine, a stopped container) wakes
   * with all its timers due, and with the replies to its requests unread in its sockets. Timers
   * that were handled first would take nodes for silent that have replied in time: a pause as long
   * as the node timeout ended 253 of 256 releases with "2 of 5 answered". So a late timer waits,
   * while other threads read the replies. A timer that fires in time meanwhile waits as well, for
   * it may have been set before the pause. If a timer is late again, the process was paused
   * meanwhile, and they wait once more. Then they are handled in any case: the end of a lease must
   * be told as well.
   */
  Time.Cancellable schedule(Runnable task, long dueNanos, long delayNanos) {
    return time.schedule(() -> fired(task, dueNanos, GRACES), delayNanos);
  }

  private void fired(Runnable task, long dueNanos, int graces) {
    long now = time.nanos();
    if (now - dueNanos >= LATE_NANOS) {
      graceUntilNanos = now + GRACE_NANOS;
    }
    long wait = graceUntilNanos - now;
    if (graces > 0 && wait > 0) {
      time.schedule(() -> fired(task, now + wait, graces - 1), wait);
    } else {
      task.run();
    }
  }

  /** This client has changed these locks: nodes send no invalidation of that. */
  void changed(LockKeys keys) {
    for (Side side : operators) {
      for (int i = 0; i < keys.size(); i++) {
        side.changed(keys.lockKey(i));
      }
    }
  }

  void set(SetKeeper keeper) {
    set = keeper;
  }

  /** Keeps the set of nodes. Not before the client has started. */
  SetKeeper set() {
    return requireNonNull(set);
  }

  NodeState nodeState(int index) {
    NodeStatus status = nodes.status(index);
    long left =
        status.state() == NodeStatus.State.QUARANTINED ? status.untilNanos() - time.nanos() : 0;
    NodeRecord record = status.record();
    return new NodeState(
        nodes.name(index),
        status.state() == NodeStatus.State.VOTING && status.erring()
            ? NodeState.State.ERRING
            : NodeState.State.valueOf(status.state().name()),
        Duration.ofNanos(Math.max(0, left)),
        status.cause(),
        nodes.releasesPending(index),
        record == null || !record.exists() || !record.id().equals(nodes.members().id())
            ? null
            : record);
  }
}
