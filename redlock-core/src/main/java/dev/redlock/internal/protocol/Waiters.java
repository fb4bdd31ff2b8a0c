package dev.redlock.internal.protocol;

import static dev.redlock.AcquireVerdict.HELD_LOCALLY;
import static dev.redlock.AcquireVerdict.UNDECIDED;

import dev.redlock.AcquireVerdict;
import dev.redlock.spi.LockKeys;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The callers of this process that wait for the lock. Only the head of their queue asks the nodes:
 * one client asks for a lock once, however many of its callers wait. On release the next of them
 * gets the grant, or asks behind the release on the same connections, which takes one round trip.
 */
final class Waiters {
  private final LockKeys keys;
  private final Nodes nodes;
  private final List<Effect> effects;

  /** In order of arrival; any of them leaves in constant time. */
  private final Set<Waiter> queue = new LinkedHashSet<>(4);

  /** The same, the earliest deadline first. */
  private final TreeSet<Waiter> deadlines = new TreeSet<>(Waiters::compareDeadlines);

  private long sequence;
  private final Turn turn;
  private final QueuePlaces places;
  private final Wait wait;
  private final Acquirer acquirer;
  private final LeaseKeeper leases;
  private boolean closed;

  Waiters(
      LockKeys keys,
      Nodes nodes,
      List<Effect> effects,
      Turn turn,
      QueuePlaces places,
      Wait wait,
      Acquirer acquirer,
      LeaseKeeper leases) {
    this.keys = keys;
    this.nodes = nodes;
    this.effects = effects;
    this.turn = turn;
    this.places = places;
    this.wait = wait;
    this.acquirer = acquirer;
    this.leases = leases;
  }

  private static int compareDeadlines(Waiter a, Waiter b) {
    int byTime = Long.signum(a.deadlineNanos - b.deadlineNanos);
    return byTime != 0 ? byTime : Long.compare(a.sequence, b.sequence);
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  int length() {
    return queue.size();
  }

  boolean isClosed() {
    return closed;
  }

  /** The next one to have the lock; null if there is none, or it is to have none any more. */
  @Nullable Waiter next() {
    return closed ? null : first();
  }

  private @Nullable Waiter first() {
    return queue.isEmpty() ? null : queue.iterator().next();
  }

  void deadlines(NextWake wake) {
    if (!isEmpty()) {
      wake.at(deadlines.first().deadlineNanos);
      if (leases.lease() == null) {
        wait.deadlines(wake);
      }
    }
  }

  // Events.

  /** Queues the caller; false if it was refused. */
  boolean submit(Waiter w, long now) {
    int length = length();
    boolean busy = length > 0 || leases.lease() != null;
    if (closed) {
      refuse(w, AcquireVerdict.CLOSED, null, now);
      return false;
    }
    if (w.singleTry && (busy || leases.keepsTaken(now))) {
      AcquireRound outage = wait.outage();
      refuse(w, outage == null ? HELD_LOCALLY : outage.verdict(), outage, now);
      return false;
    }
    if (length >= w.options.queueBound()) {
      effects.add(new Effect.Refuse(w, Reports.queueFull(nodes, keys, w, length, now)));
      return false;
    }
    w.sequence = sequence++;
    queue.add(w);
    deadlines.add(w);
    return true;
  }

  /** The caller gives up; false if it does not wait here. */
  boolean cancel(Waiter w, long now) {
    boolean head = first() == w;
    if (!remove(w)) {
      return false;
    }
    if (head) {
      headLeft(w, now);
    }
    leaveQueues(now);
    return true;
  }

  private boolean remove(Waiter w) {
    return queue.remove(w) && deadlines.remove(w);
  }

  /** Refuses each waiter whose wait time has passed. */
  void onTimer(long now, long wall) {
    // What is known for all that give up now: the first may end the wait.
    AcquireRound outage = wait.outage();
    AcquireVerdict ofHead = wait.isRefused() ? HELD_LOCALLY : UNDECIDED;
    // While the head asks all nodes for the first time, it is not known who has the lock.
    AcquireVerdict ofOthers = wait.round() == null ? HELD_LOCALLY : ofHead;
    while (!isEmpty() && deadlines.first().deadlineNanos - now <= 0) {
      Waiter w = deadlines.first();
      timeOut(w, outage, first() == w ? ofHead : ofOthers, now);
    }
    conclude(acquirer.onTimer(now, wall), now);
  }

  /**
   * @param unasked the verdict if no node was asked for this caller
   */
  private void timeOut(Waiter w, @Nullable AcquireRound outage, AcquireVerdict unasked, long now) {
    boolean head = first() == w;
    AcquireRound seen = wait.roundFor(w);
    QueueRequest queued = wait.queuedFor(w);
    remove(w);
    if (head) {
      if (seen != null && seen == wait.round() && w.refusedBy != null) {
        seen = w.refusedBy; // The round under way has no verdict yet.
      }
      headLeft(w, now);
      leaveQueues(now);
    }
    if (queued != null && (seen == null || Reports.isNews(nodes, queued, seen))) {
      effects.add(new Effect.Refuse(w, Reports.ofQueued(nodes, keys, queued, w, now)));
      return;
    }
    seen = seen == null ? outage : seen;
    refuse(w, seen == null ? unasked : seen.verdict(), seen, now);
  }

  /** Refuses all waiters, now and from now on. */
  void close(long now) {
    closed = true;
    for (Waiter w = first(); w != null; w = first()) {
      AcquireRound seen = wait.roundFor(w);
      remove(w);
      headLeft(w, now);
      refuse(w, AcquireVerdict.CLOSED, seen, now);
    }
    leaveQueues(now);
  }

  /** A node reports that a lock key was written, deleted or has expired. */
  void onInvalidation(int node, long now) {
    AcquireRound r = wait.round();
    if (r != null) {
      r.onInvalidation(node);
    } else {
      wait.onLockKey(keys.size() > 1, now);
    }
  }

  // Serving the head.

  /** Asks for the head, if nothing is held or under way and it is time. */
  void proceed(long now, long wall) {
    // Each pass starts a round or a request to be queued, refuses a waiter, or returns.
    while (!closed && leases.lease() == null && !wait.isAsking()) {
      Waiter head = first();
      if (head == null) {
        wait.end();
        return;
      }
      if (wait.isAsleep(now) || acquirer.backsOff(head, deadlines.first().deadlineNanos, now)) {
        return;
      }
      conclude(acquirer.ask(head, now, wall), now);
    }
    Waiter next = next();
    if (leases.lease() != null && next != null && next.options.fair() && turn.othersWant()) {
      acquirer.queueEarly(next, now);
    }
  }

  /** The holder has released: the next waiter has the lock by the same grant. */
  void handOff(HeldLease l, Waiter next, long now) {
    remove(next);
    leases.handOff(l, next, now);
  }

  /** What comes of an event that the {@link Acquirer} handled for the head. */
  void conclude(Acquirer.Outcome outcome, long now) {
    switch (outcome) {
      case WAITS -> {}
      case WON -> grant(now);
      case REFUSED -> {
        Waiter w = wait.waiter();
        AcquireRound r = newestRound();
        remove(w);
        leaveQueues(now);
        refuse(w, r.verdict(), r, now);
        wait.end();
      }
    }
  }

  private void grant(long now) {
    Waiter w = wait.waiter();
    AcquireRound r = newestRound();
    remove(w);
    wait.granted();
    leases.grant(w, r, now);
    places.served(r, r.grantedMask());
    places.leave(~r.open(), now);
  }

  private AcquireRound newestRound() {
    return Objects.requireNonNull(wait.roundFor(wait.waiter()), "no round for the head");
  }

  /** This head has left the queue: the next takes its sleep over, or asks anew. */
  private void headLeft(Waiter w, long now) {
    Waiter next = first();
    if (!wait.isAsking() && next != null && next.options.equals(w.options) && !w.options.fair()) {
      return; // The next waiter sleeps on: what is known of other clients has not changed.
    }
    stopAsking(now);
  }

  /** Gives up what is under way, and undoes it. */
  private void stopAsking(long now) {
    AcquireRound r = wait.round();
    if (r != null) {
      acquirer.leaveLimit(r, now);
      acquirer.rollBack(r, now);
    }
    wait.end();
  }

  private void leaveQueues(long now) {
    if (isEmpty()) {
      places.leave(-1L, now);
    }
  }

  private void refuse(Waiter w, AcquireVerdict verdict, @Nullable AcquireRound seen, long now) {
    boolean held = verdict == UNDECIDED && leases.wasTakenSince(w.submittedNanos);
    AcquireVerdict why = held ? HELD_LOCALLY : verdict;
    effects.add(new Effect.Refuse(w, Reports.of(nodes, keys, seen, why, w, now)));
  }
}
