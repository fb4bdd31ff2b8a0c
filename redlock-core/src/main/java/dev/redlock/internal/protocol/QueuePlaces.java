package dev.redlock.internal.protocol;

import dev.redlock.LockOptions;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * The places of this process in the queues of the nodes. It is queued at the home node, and for a
 * while also at a node that was the home node before.
 *
 * <p>A place without a waiter delays the other processes: the release of the lock wakes this
 * process, and the next one passes it over after a while. So the process leaves each queue that it
 * does not need.
 */
final class QueuePlaces {
  /** For how long to repeat that this process leaves a queue. After that it was passed over. */
  private static final long STAY_NANOS = 10_000_000_000L;

  private final LockKeys keys;
  private final Nodes nodes;
  private final Randomness random;
  private final PendingReleases pendingReleases;
  private final String member;

  /** The nodes in whose queues this process may have a place, or that know that it listens. */
  private long queuedMask;

  /** When the newest request to be queued was sent. */
  private long enqueuedNanos;

  /** Since when the process waits for its turn, by the clocks of the nodes; 0 if not known. */
  private long arrivalMicros;

  QueuePlaces(
      LockKeys keys,
      Nodes nodes,
      Randomness random,
      PendingReleases pendingReleases,
      String process) {
    this.keys = keys;
    this.nodes = nodes;
    this.random = random;
    this.pendingReleases = pendingReleases;
    member = keys.member(process);
  }

  boolean isWakeKey(String key) {
    return key.length() > keys.lockKey(0).length() && key.equals(keys.wakeKey(member));
  }

  boolean isWatchKey(String key) {
    return key.length() > keys.lockKey(0).length() && key.equals(keys.watchKey(member));
  }

  /** The request that enters the queue of the node, or keeps the place there: it counts as sent. */
  LockRequest.Enqueue enqueue(Waiter w, int node, long afterToken, long now) {
    queuedMask |= 1L << node;
    enqueuedNanos = now;
    return new LockRequest.Enqueue(keys, entry(w, node, false, now), afterToken);
  }

  /**
   * The request of the first of the queue to listen to this node as well: it counts as sent. If a
   * lock key is missing there, only a request that leaves makes the node forget it.
   */
  LockRequest.Inspect listen(int node) {
    queuedMask |= 1L << node;
    return new LockRequest.Inspect(keys, true);
  }

  /**
   * The queue entry that a round carries. A round without an entry is served after all queued
   * processes.
   *
   * @param atTurn whether it is the turn of this process, as its home node says
   */
  LockRequest.QueueEntry entry(Waiter w, int node, boolean atTurn, long now) {
    long patience = nodes.knowledge(node).turnPatience(w.options.fair()) / 1_000;
    return new LockRequest.QueueEntry(
        member, arrival(w, node, now), patience, lifeMillis(w.options), atTurn);
  }

  /**
   * For how long the process counts as alive after a request: longer than it ever sleeps. In fair
   * mode it may be the holder, which does not ask for its next caller before half of its lease time
   * has passed.
   */
  private static long lifeMillis(LockOptions options) {
    long poll = Math.min(options.pollInterval().toNanos(), options.leaseTime().toNanos() / 3);
    long sleep = Math.max(Place.MAX_POLLS * poll, 3 * Wait.MAX_PAUSE_NANOS / 2);
    long held = options.fair() ? options.leaseTime().toNanos() : 0;
    return (sleep + held + 4 * options.nodeTimeout().toNanos()) / 1_000_000;
  }

  /** Whether the process may have a place anywhere, or listens. */
  boolean isQueued() {
    return queuedMask != 0;
  }

  /**
   * Fair mode: when the caller came. Otherwise: since when the process waits for its turn. Computed
   * once: the estimate of the clock changes with each reply, and a process that came with another
   * arrival each time would overtake and be overtaken without end.
   */
  private long arrival(Waiter w, int node, long now) {
    NodeKnowledge known = nodes.knowledge(node);
    if (w.options.fair()) {
      if (w.arrivalMicros == 0 && known.clockKnown()) {
        w.arrivalMicros = Math.max(1, known.estimateMicros(w.submittedNanos));
      }
      return w.arrivalMicros;
    }
    if (arrivalMicros == 0 && known.clockKnown()) {
      arrivalMicros = Math.max(1, known.estimateMicros(now));
    }
    return arrivalMicros;
  }

  /**
   * The process has its turn, and waits for its next one from the end of the queue. Those of these
   * nodes that have granted have removed it from their queues, unless it was queued again since.
   */
  void served(AcquireRound won, long mask) {
    arrivalMicros = 0;
    if (won.request.queueEntry() != null && enqueuedNanos - won.sentNanos() <= 0) {
      queuedMask &= ~(won.grantedMask() & mask);
    }
  }

  /** No waiter of this process needs the queues of these nodes any more; −1: of all nodes. */
  void leave(long mask, long nowNanos) {
    long left = queuedMask & mask;
    queuedMask &= ~mask;
    if (queuedMask == 0) {
      arrivalMicros = 0; // A process that returns enters the queue at its end.
    }
    if (left != 0) {
      pendingReleases.add(nothing(member), left, STAY_NANOS, nowNanos);
    }
  }

  /**
   * No inspection of this process listens any more. If the lock is free, the nodes would remember
   * until the next lease that it does. A roll-back makes them forget it.
   */
  void stopListening(long nowNanos) {
    pendingReleases.add(nothing(null), nodes.usable(), STAY_NANOS, nowNanos);
  }

  /** The roll-back of an attempt that never was; it also removes this process from the queue. */
  private LockRequest.Release nothing(@Nullable String process) {
    return new LockRequest.Release(keys, random.leaseId(), 1, false, 0, process);
  }
}
