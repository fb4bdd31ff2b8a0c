package dev.redlock.internal.protocol;

import dev.redlock.LeaseEnd;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The releases that nodes have not confirmed. Each node is asked until it has replied, until the
 * keys have expired, or until this lock gives up its oldest because the client has too many. This
 * is step 5 of the Redis specification, for all nodes, also for those that the client believes not
 * locked.
 *
 * <p>On one connection a release is executed after the acquire that it undoes. So the client
 * repeats nothing while the connection lasts. It sends a release again on a new connection, after
 * an error (see {@link FailedReleases}), and when a grant arrives late. The token of the release
 * raises the node's fence: a copy of the acquire that another connection delivers later is refused.
 */
final class PendingReleases {
  /** A release has something to do at this time, if it still has this deadline. */
  private record Due(long nanos, PendingRelease entry) {
    boolean stands() {
      return (entry.ack != null && entry.ackDeadlineNanos == nanos)
          || (entry.handingOff != 0 && entry.handingOffUntilNanos == nanos);
    }
  }

  private final Nodes nodes;
  private final List<Effect> effects;

  /**
   * By lease id, oldest first. A hung node leaves thousands of them, so no event that comes with
   * each reply may visit all of them.
   */
  private final Map<String, PendingRelease> entries = new LinkedHashMap<>(4);

  /** Those whose keys may still live, oldest first. */
  private final Set<PendingRelease> alive = new LinkedHashSet<>(4);

  /** Acks and hand-offs by their deadlines; differences, for the clock's origin is arbitrary. */
  private final PriorityQueue<Due> due =
      new PriorityQueue<>(4, (a, b) -> Long.signum(a.nanos - b.nanos));

  private final FailedReleases failed;

  PendingReleases(Nodes nodes, List<Effect> effects) {
    this.nodes = nodes;
    failed = new FailedReleases(nodes, this);
    this.effects = effects;
  }

  boolean isEmpty() {
    return entries.isEmpty();
  }

  /** Releases that nodes have not confirmed, over all nodes. */
  int pending() {
    return entries.values().stream().mapToInt(e -> Long.bitCount(e.todo)).sum();
  }

  /** Releases a lease that has ended; the ack is settled when a quorum has confirmed. */
  void release(HeldLease l, long keepMillis, Effect.@Nullable Ack ack, long nowNanos) {
    LockRequest.Release request = l.grant.release(keepMillis);
    PendingRelease e = entry(request, l.grant.written(), nowNanos + l.grant.lifeNanos(), nowNanos);
    e.untouched = l.grant.untouched();
    if (l.end() == LeaseEnd.EXPIRED && ack == null) {
      e.slot = l.extender.slot;
    }
    send(e, l.grant.written(), nowNanos);
    if (ack != null) {
      e.ack = ack;
      e.ackDeadlineNanos = nowNanos + l.config().nodeTimeoutNanos();
      due.add(new Due(e.ackDeadlineNanos, e));
    }
  }

  /**
   * After a hand-off: the predecessor may be stored on nodes that did not grant to its successor. A
   * node that has not replied yet has until the end of the round to do so.
   */
  void handedOff(HeldLease before, AcquireRound won, long nowNanos) {
    long notGranted = before.grant.written() & ~won.grantedMask();
    if (notGranted == 0) {
      return;
    }
    LockRequest.Release request = before.grant.release(0);
    PendingRelease e = entry(request, notGranted, nowNanos + before.grant.lifeNanos(), nowNanos);
    send(e, notGranted & ~won.open(), nowNanos);
    e.handingOff = won.open();
    if (e.handingOff != 0) {
      e.handingOffUntilNanos = won.deadlineNanos();
      due.add(new Due(e.handingOffUntilNanos, e));
    }
  }

  /**
   * Sends to these nodes the release of what is no lease: a roll-back, or a place in a queue.
   *
   * @param lifeNanos how long their keys can live at most from now on
   */
  void add(LockRequest.Release request, long mask, long lifeNanos, long nowNanos) {
    if (mask != 0) {
      send(entry(request, mask, nowNanos + lifeNanos, nowNanos), mask, nowNanos);
    }
  }

  /** Undoes a refused round. */
  void rollBack(AcquireRound r, long now) {
    // A single node that has refused stores nothing. Rolling it back would
    // raise its fence above the next token of the holder, and spoil the holder's hand-off.
    boolean refused = r.members.count() == 1 && r.isRefused();
    long mask = refused ? 0 : r.recipients.mask();
    LockRequest.Acquire q = r.request;
    LockRequest.Release undo = LockRequest.Release.rollBack(q.keys(), q.leaseId(), q.token());
    add(undo, mask, q.ttlMillis() * 1_010_000L + 1_000_000_000L, now);
  }

  /** The release of this lease id: a new one, or one more reason for the old one. */
  private PendingRelease entry(
      LockRequest.Release request, long mask, long untilNanos, long nowNanos) {
    PendingRelease e = entries.get(request.leaseId());
    if (e == null) {
      giveUpIfTooMany(nowNanos);
      e = new PendingRelease(request, nodes);
      entries.put(request.leaseId(), e);
    }
    e.untilNanos = untilNanos;
    alive.add(e);
    todo(e, e.todo | mask);
    return e;
  }

  private void todo(PendingRelease e, long mask) {
    for (long bits = mask ^ e.todo; bits != 0; bits &= bits - 1) {
      int node = Long.numberOfTrailingZeros(bits);
      nodes.releasesPending(node, (mask & 1L << node) != 0 ? 1 : -1);
    }
    e.todo = mask;
  }

  /** A node replied late to the hand-off: it granted and dropped the predecessor, or it did not. */
  void onSuccessor(String predecessorId, int node, boolean granted, long nowNanos) {
    long bit = 1L << node;
    PendingRelease e = entries.get(predecessorId);
    if (e == null || (e.todo & bit) == 0) {
      return;
    }
    e.handingOff &= ~bit;
    if (!granted) {
      send(e, bit, nowNanos);
    } else if (!e.isOpen(node)) {
      todo(e, e.todo & ~bit);
      removeIfDone(e, nowNanos);
    }
  }

  /**
   * Sends it to those of these nodes that have a probed connection, unless it is on its way; and to
   * those for which it waited.
   */
  void send(PendingRelease e, long mask, long nowNanos) {
    long now = 0;
    for (long bits = mask | (e.waiting & e.todo); bits != 0; bits &= bits - 1) {
      int i = Long.numberOfTrailingZeros(bits);
      if (!e.isOpen(i) && nodes.status(i).usable()) {
        now |= 1L << i;
      }
    }
    if (now != 0 && !mayBegin(e, nowNanos)) {
      e.waiting |= now;
    } else if (now != 0) {
      e.waiting &= ~now;
      e.asked(now, nowNanos);
      effects.add(new Effect.Send(e, e.request, now));
    }
  }

  /** Whether it may be sent now. The release of an expired lease waits behind all extensions. */
  private boolean mayBegin(PendingRelease e, long nowNanos) {
    if (e.slot != null) {
      e.slot.tellOthers(nodes.extensions().askForRelease(e.slot, nowNanos), effects);
    }
    return e.slot == null || e.slot.isTaken();
  }

  /** A release that waited may begin. */
  void onAdmitted(long nowNanos) {
    for (PendingRelease e : entries.values()) {
      if (e.waiting != 0) {
        send(e, 0, nowNanos);
        endTurn(e, nowNanos);
      }
    }
  }

  /** Lets others begin once a quorum has confirmed it, or no reply is waited for. */
  private void endTurn(PendingRelease e, long nowNanos) {
    ExtendSlot slot = e.slot;
    boolean ended = e.open() == 0 || e.confirmed() >= e.members.quorum();
    if (slot != null && slot.isTaken() && ended) {
      slot.tellOthers(nodes.extensions().giveUp(slot, nowNanos), effects);
    }
  }

  void onReply(PendingRelease e, int node, NodeReply reply, long nowNanos) {
    e.record(node, reply);
    endTurn(e, nowNanos);
    if (reply.code().definite()) {
      todo(e, e.todo & ~(1L << node));
      settleIfConfirmed(e);
      removeIfDone(e, nowNanos);
      failed.onConfirmed(node, nowNanos);
    } else if (alive.contains(e)) {
      onFailure(e, node, reply, nowNanos);
    } else {
      removeIfDone(e, nowNanos);
    }
    giveUpIfTooMany(nowNanos);
  }

  private void onFailure(PendingRelease e, int node, NodeReply reply, long nowNanos) {
    long bit = 1L << node;
    NodeError error = reply.error();
    if (error != null && error.kind() == NodeError.Kind.CLOSED) {
      todo(e, e.todo & ~bit); // The client is closed: the key expires.
    } else if (nodes.status(node).usable()
        && nodes.status(node).connection() != reply.connection()) {
      send(e, bit, nowNanos); // A new connection is there already.
    } else if (error == null || error.kind() != NodeError.Kind.DISCONNECTED) {
      failed.add(e, node, nowNanos);
    } // else: the next connection will carry it.
  }

  /**
   * While a release is on its way its entry stays, even past the end of the keys: a grant that
   * comes late is recognised by it.
   */
  private void removeIfDone(PendingRelease e, long nowNanos) {
    if (e.ack == null && (e.todo == 0 || (!alive.contains(e) && e.open() == 0))) {
      forget(e, nowNanos);
    }
  }

  private void forget(PendingRelease e, long nowNanos) {
    if (e.slot != null) {
      e.slot.tellOthers(nodes.extensions().giveUp(e.slot, nowNanos), effects);
    }
    todo(e, 0);
    failed.forget(e);
    alive.remove(e);
    entries.remove(e.request.leaseId(), e);
  }

  private void settleIfConfirmed(PendingRelease e) {
    Effect.Ack ack = e.ack;
    if (ack != null && e.confirmed() >= e.members.quorum()) {
      e.ack = null;
      effects.add(new Effect.Settle(ack, Effect.Result.DONE));
    }
  }

  /**
   * A grant came for a lease id that is being released or rolled back, or was.
   *
   * @param lease whether it has been a lease: then it is released, never rolled back, because a
   *     copy of an extension may be under way as well
   */
  void onLateGrant(LockRequest.Acquire request, boolean lease, int node, long nowNanos) {
    long bit = 1L << node;
    PendingRelease e = entries.get(request.leaseId());
    if (e != null) {
      if (!e.isOpen(node) && (e.handingOff & bit) == 0) {
        todo(e, e.todo | bit);
        send(e, bit, nowNanos);
      }
      return; // An open release, or a hand-off, is behind the acquire on the same connection.
    }
    LockKeys keys = request.keys();
    LockRequest.Release undo =
        lease
            ? LockRequest.Release.of(keys, request.leaseId(), request.token())
            : LockRequest.Release.rollBack(keys, request.leaseId(), request.token());
    add(undo, bit, request.ttlMillis() * 1_000_000L, nowNanos);
  }

  /** The node has executed nothing of this lease id: there is nothing to release on it. */
  void onNotExecuted(String leaseId, int node, long nowNanos) {
    PendingRelease e = entries.get(leaseId);
    if (e != null) {
      todo(e, e.todo & ~(1L << node));
      removeIfDone(e, nowNanos);
    }
  }

  /** The node has a new connection, or executes again: all that it has not confirmed is sent. */
  void onWorks(int node, long nowNanos) {
    failed.forgetNode(node);
    for (PendingRelease e : alive) {
      if ((e.todo & 1L << node) != 0) {
        send(e, 1L << node, nowNanos);
      }
    }
  }

  void onTimer(long nowNanos) {
    for (Due next = due.peek(); next != null && next.nanos - nowNanos <= 0; next = due.peek()) {
      due.remove();
      onDue(next.entry, nowNanos);
    }
    failed.onTimer(nowNanos);
    PendingRelease oldest = oldestAlive();
    while (oldest != null && oldest.untilNanos - nowNanos <= 0) {
      alive.remove(oldest);
      failed.forget(oldest);
      removeIfDone(oldest, nowNanos);
      oldest = oldestAlive();
    }
  }

  private void onDue(PendingRelease e, long nowNanos) {
    Effect.Ack ack = e.ack;
    if (ack != null && e.ackDeadlineNanos - nowNanos <= 0) {
      e.ack = null;
      effects.add(
          new Effect.Settle(ack, Effect.Result.failed(Reports.ofRelease(nodes, e, nowNanos))));
    }
    if (e.handingOff != 0 && e.handingOffUntilNanos - nowNanos <= 0) {
      e.handingOff = 0;
      send(e, e.todo, nowNanos);
    }
    removeIfDone(e, nowNanos);
    giveUpIfTooMany(nowNanos);
  }

  /** The first that was added; one that expires before it is kept until this one has expired. */
  private @Nullable PendingRelease oldestAlive() {
    return alive.isEmpty() ? null : alive.iterator().next();
  }

  /**
   * The client has too many over all its locks: this lock gives up its oldest one for which no
   * caller waits, and its keys expire. A lock that has no event keeps what it has until then.
   */
  private void giveUpIfTooMany(long nowNanos) {
    if (!nodes.tooManyReleasesPending()) {
      return;
    }
    for (PendingRelease e : entries.values()) {
      if (e.ack == null) {
        forget(e, nowNanos);
        return;
      }
    }
  }

  void deadlines(NextWake wake) {
    if (entries.isEmpty()) {
      due.clear();
      return; // The usual case, and this is called with each reply.
    }
    Due next = due.peek();
    while (next != null && !next.stands()) {
      due.remove();
      next = due.peek();
    }
    if (next != null) {
      wake.at(next.nanos);
    }
    failed.deadlines(wake);
    PendingRelease oldest = oldestAlive();
    if (oldest != null) {
      wake.at(oldest.untilNanos);
    }
  }
}
