package dev.redlock.internal.protocol;

import static java.util.Objects.requireNonNull;

import dev.redlock.LeaseEnd;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The releases that nodes have not confirmed. Each node is asked until it has replied, until the
 * keys have expired, or until this lock gives it up because the client has too many. This is step 5
 * of the Redis specification, for all nodes, also for those that the client believes not locked.
 *
 * <p>On one connection a release is executed after the acquire that it undoes. So the client
 * repeats nothing while the connection lasts. What a node could not be sent, or failed, is in its
 * {@link Outbox}. Besides, a grant that arrives late is released again. The token of the release
 * raises the node's fence: a copy of the acquire that another connection delivers later is refused.
 */
final class PendingReleases {
  final Nodes nodes;
  private final List<Effect> effects;

  /**
   * By lease id, oldest first. A hung node leaves thousands of them, so no event that comes with
   * each reply may visit all of them.
   */
  private final Map<String, PendingRelease> entries = new LinkedHashMap<>(4);

  /** Those whose caller waits. */
  private final Queue<PendingRelease> waiting =
      new PriorityQueue<>(1, (a, b) -> Long.signum(a.deadlineNanos - b.deadlineNanos));

  /** By node; only of those that were to be sent something later. */
  private final Map<Integer, Outbox> outboxes = new TreeMap<>();

  PendingReleases(Nodes nodes, List<Effect> effects) {
    this.nodes = nodes;
    this.effects = effects;
  }

  boolean isEmpty() {
    return entries.isEmpty();
  }

  /** Releases that nodes have not confirmed, over all nodes. */
  int pending() {
    return entries.values().stream().mapToInt(e -> Long.bitCount(e.todo)).sum();
  }

  // What is to be released.

  /** Releases a lease that has ended; the ack is settled when a quorum has confirmed. */
  void release(HeldLease l, long keepMillis, Effect.@Nullable Ack ack, long nowNanos) {
    Grant grant = l.grant;
    LockRequest.Release request = grant.release(keepMillis);
    PendingRelease e = entry(request, grant.written(), grant.lifeNanos(), nowNanos);
    e.untouched = grant.untouched();
    if (ack != null) {
      e.ack = ack;
      e.deadlineNanos = nowNanos + l.options().nodeTimeout().toNanos();
      waiting.add(e);
    } else if (l.end() == LeaseEnd.EXPIRED) {
      e.slot = l.extender.slot;
      e.held = e.todo; // It waits behind all extensions.
      onAdmitted(nowNanos);
    }
    send(e, e.todo, nowNanos);
  }

  /** Undoes a refused round. */
  void rollBack(AcquireRound r, long now) {
    // A single node that has refused stores nothing. Rolling it back would
    // raise its fence, perhaps above the next token of the holder's process.
    boolean refused = r.members.count() == 1 && r.isRefused();
    undo(r.request, false, refused ? 0 : r.recipients.mask(), now);
  }

  /**
   * Undoes an acquire on these nodes: its round was refused, or they granted it late. A node that
   * it is sent to, or will be, gets no second one: that one is behind the acquire.
   *
   * @param lease whether it has been a lease: then it is released, never rolled back, because a
   *     copy of an extension may be under way as well
   */
  void undo(LockRequest.Acquire q, boolean lease, long mask, long now) {
    LockRequest.Release undo =
        new LockRequest.Release(q.keys(), q.leaseId(), q.token(), lease, 0, null);
    add(undo, mask, q.ttlMillis() * 1_010_000L + 1_000_000_000L, now);
  }

  /**
   * Sends to these nodes the release of what is no lease: a roll-back, or a place in a queue.
   *
   * @param lifeNanos how long their keys can live at most from now on
   */
  void add(LockRequest.Release request, long mask, long lifeNanos, long nowNanos) {
    if (mask != 0) {
      send(entry(request, mask, lifeNanos, nowNanos), mask, nowNanos);
    }
  }

  /** The release of this lease id: a new one, or more nodes for the old one. */
  private PendingRelease entry(
      LockRequest.Release request, long mask, long lifeNanos, long nowNanos) {
    PendingRelease e =
        entries.computeIfAbsent(
            request.leaseId(), id -> new PendingRelease(request, nowNanos + lifeNanos, nodes));
    todo(e, e.todo | mask);
    return e;
  }

  private void todo(PendingRelease e, long mask) {
    for (long bits = mask ^ e.todo; bits != 0; bits &= bits - 1) {
      int node = Long.numberOfTrailingZeros(bits);
      boolean added = (mask & 1L << node) != 0;
      nodes.releasesPending(node, added ? 1 : -1);
      if (!added && outboxes.containsKey(node)) {
        outbox(node).remove(e);
      }
    }
    e.todo = mask;
    e.held &= mask;
  }

  // Sending.

  /**
   * Sends it to those of these nodes that have not confirmed it, unless it is on its way: now if
   * they have a probed connection, else later.
   */
  void send(PendingRelease e, long mask, long nowNanos) {
    long now = 0;
    for (long bits = mask & e.todo & ~e.held & ~e.open(); bits != 0; bits &= bits - 1) {
      int node = Long.numberOfTrailingZeros(bits);
      if (nodes.status(node).usable()) {
        now |= 1L << node;
      } else {
        outbox(node).add(e, nowNanos);
      }
    }
    if (now != 0) {
      e.asked(now, nowNanos);
      effects.add(new Effect.Send(e, e.request, now));
    }
  }

  private Outbox outbox(int node) {
    return outboxes.computeIfAbsent(node, n -> new Outbox(n, this));
  }

  /** A release that waited behind extensions may begin. */
  void onAdmitted(long nowNanos) {
    for (PendingRelease e : List.copyOf(entries.values())) {
      if (e.slot != null && e.held != 0 && askForTurn(e.slot, nowNanos)) {
        long mask = e.held;
        e.held = 0;
        send(e, mask, nowNanos);
        conclude(e, nowNanos);
      }
    }
  }

  /** Asks again: a turn that came while this thread was paused for long is over. */
  private boolean askForTurn(ExtendSlot slot, long nowNanos) {
    slot.tellOthers(nodes.extensions().askForRelease(slot, nowNanos), effects);
    return slot.isTaken();
  }

  /**
   * The node has a new connection, or executes again: it is sent all that waited for that. But
   * releases of expired leases wait for a turn again. They had turns one after the other while the
   * node had no connection, and thousands at once would delay the first acquires after an outage.
   */
  void onWorks(int node, long nowNanos) {
    Outbox outbox = outboxes.remove(node);
    if (outbox != null) {
      for (PendingRelease e : outbox.later) {
        e.held |= e.slot != null ? 1L << node : 0;
        send(e, 1L << node, nowNanos);
      }
      onAdmitted(nowNanos);
    }
  }

  // Replies.

  void onReply(PendingRelease e, int node, NodeReply reply, long nowNanos) {
    e.record(node, reply);
    if (reply.code().definite()) {
      todo(e, e.todo & ~(1L << node));
      if (e.ack != null && e.isConfirmed()) {
        settle(e, e.ack, Effect.Result.DONE);
      }
      if (outboxes.containsKey(node)) {
        outbox(node).onConfirmed(nowNanos);
      }
    } else if ((e.todo & 1L << node) != 0) {
      onFailure(e, node, reply, nowNanos);
    }
    conclude(e, nowNanos);
  }

  private void onFailure(PendingRelease e, int node, NodeReply reply, long nowNanos) {
    NodeError error = reply.error();
    if (error != null && error.kind() == NodeError.Kind.CLOSED) {
      todo(e, e.todo & ~(1L << node)); // The client is closed: the key expires.
    } else if (nodes.status(node).connection() != reply.connection()) {
      send(e, 1L << node, nowNanos); // There is a new connection already.
    } else {
      outbox(node).add(e, nowNanos);
    }
  }

  /**
   * The node has executed nothing of this lease id: there is nothing to release on it. One that
   * does not permit the name would refuse the release as well, until the end of the keys.
   */
  void onNotExecuted(String leaseId, int node, long nowNanos) {
    PendingRelease e = entries.get(leaseId);
    if (e != null) {
      todo(e, e.todo & ~(1L << node));
      conclude(e, nowNanos);
    }
  }

  private void settle(PendingRelease e, Effect.Ack ack, Effect.Result result) {
    e.ack = null;
    waiting.remove(e);
    effects.add(new Effect.Settle(ack, result));
  }

  /**
   * Forgets it if there is no more to do; or if nothing holds it back, and the client has too many
   * over all its locks: then the keys expire. Lets others begin once a quorum has confirmed it, or
   * no reply is waited for.
   */
  private void conclude(PendingRelease e, long nowNanos) {
    if (e.ack == null && (e.todo == 0 || (e.held == 0 && nodes.tooManyReleasesPending()))) {
      todo(e, 0);
      entries.remove(e.request.leaseId(), e);
    }
    boolean over = e.open() == 0 || e.isConfirmed() || e.untilNanos - nowNanos <= 0;
    if (e.slot != null && e.held == 0 && over) {
      e.slot.tellOthers(nodes.extensions().giveUp(e.slot, nowNanos), effects);
    }
  }

  // Time.

  void onTimer(long nowNanos) {
    PendingRelease next = waiting.peek();
    while (next != null && next.deadlineNanos - nowNanos <= 0) {
      Effect.Result unconfirmed = new Effect.Result(Reports.ofRelease(nodes, next, nowNanos), null);
      settle(next, requireNonNull(next.ack), unconfirmed);
      conclude(next, nowNanos);
      next = waiting.peek();
    }
    for (Outbox outbox : outboxes.values()) {
      outbox.onTimer(nowNanos);
    }
    PendingRelease e = oldest();
    while (e != null && e.ack == null && e.untilNanos - nowNanos <= 0) {
      todo(e, 0); // Its keys have expired.
      conclude(e, nowNanos);
      e = oldest();
    }
  }

  /** One that expires before the oldest is kept until the oldest has expired. */
  private @Nullable PendingRelease oldest() {
    return entries.isEmpty() ? null : entries.values().iterator().next();
  }

  void deadlines(NextWake wake) {
    PendingRelease oldest = oldest();
    if (oldest != null) { // Usually it is null, and this is called with each reply.
      wake.at(oldest.untilNanos);
      PendingRelease next = waiting.peek();
      if (next != null) {
        wake.at(next.deadlineNanos);
      }
      outboxes.values().forEach(outbox -> outbox.deadlines(wake));
    }
  }
}
