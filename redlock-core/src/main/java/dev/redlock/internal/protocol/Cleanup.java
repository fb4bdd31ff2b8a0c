package dev.redlock.internal.protocol;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Orders to release, never forgotten: each node keeps its order until it has answered it, or until
 * the keys have died of their time to live. Step 5 of the Redis specification, for all nodes, also
 * those believed not locked.
 *
 * <p>On one connection a release is executed after the acquire it undoes, so nothing is repeated
 * while the connection lasts; it is sent again on a new connection, after an error, and when a
 * grant arrives late. The token that it carries raises the node's fence, so that a copy of the
 * acquire that is executed after it on another connection is refused.
 */
final class Cleanup {
  private static final long FIRST_RETRY_NANOS = 20_000_000;
  private static final long MOST_RETRY_NANOS = 1_000_000_000;

  /** One lease id that may be stored on some nodes. */
  static final class Entry extends Exchange {
    final LockRequest.Release request;
    private long untilNanos;
    private final @Nullable NodeReply[] replies;
    private @Nullable Ticket ticket;
    private long ticketNanos;
    private long todo;
    private long sentNanos;
    private long retryNanos;
    private boolean retry;

    /** Nodes whose answer to the hand-off that takes this lease over is still to come. */
    private long behind;

    private int failures;

    Entry(LockRequest.Release request, int nodes, long untilNanos) {
      this.request = request;
      this.untilNanos = untilNanos;
      replies = new NodeReply[nodes];
    }

    long sentNanos() {
      return sentNanos;
    }
  }

  /** Who waits for a quorum to confirm, and until when. */
  record Ticket(Order.Ticket ticket, HeldLease lease, long deadlineNanos) {}

  private final Nodes nodes;
  private final List<Order> orders;

  /**
   * By lease id, oldest first. A hung node leaves thousands of them, so nothing that happens with
   * every answer may look at all.
   */
  private final Map<String, Entry> entries = new LinkedHashMap<>(4);

  /** Those whose keys may still live, oldest first. */
  private final Set<Entry> alive = new LinkedHashSet<>(4);

  /** Those that have something to do at a time of their own, besides dying. */
  private final Set<Entry> timed = new LinkedHashSet<>(4);

  /** What each node has come to owe since this was last asked, and the array of the last time. */
  private int[] newlyOwed;

  private int[] told;
  private boolean news;
  private int pending;

  Cleanup(Nodes nodes, List<Order> orders) {
    this.nodes = nodes;
    newlyOwed = new int[nodes.count()];
    told = new int[nodes.count()];
    this.orders = orders;
  }

  boolean isEmpty() {
    return entries.isEmpty();
  }

  /** Orders that nodes have not answered yet, over all nodes. */
  int pending() {
    return pending;
  }

  /** Whether what is pending has changed since {@link #takeNews}. */
  boolean hasNews() {
    return news;
  }

  /** How many orders each node has come to owe since this was last asked; good until then. */
  int[] takeNews() {
    int[] taken = newlyOwed;
    newlyOwed = told;
    Arrays.fill(newlyOwed, 0);
    told = taken;
    news = false;
    return taken;
  }

  /**
   * Orders a release on these nodes.
   *
   * @param lifeNanos how long their keys can live at most from now on
   */
  void add(
      LockRequest.Release request,
      long mask,
      long lifeNanos,
      @Nullable Ticket ticket,
      long nowNanos) {
    if (mask == 0 && ticket == null) {
      return;
    }
    Entry e = entry(request, mask, nowNanos + lifeNanos);
    if (ticket != null) {
      e.ticket = ticket;
      e.ticketNanos = ticket.deadlineNanos();
      timed.add(e);
    }
    send(e, mask, nowNanos);
  }

  /** The order for this lease id: a new one, or one more reason for the old. */
  private Entry entry(LockRequest.Release request, long mask, long untilNanos) {
    Entry e = entries.get(request.leaseId());
    if (e == null) {
      e = new Entry(request, nodes.count(), untilNanos);
      entries.put(request.leaseId(), e);
    } else {
      e.untilNanos = untilNanos;
    }
    alive.add(e);
    todo(e, e.todo | mask);
    return e;
  }

  private void todo(Entry e, long mask) {
    long changed = mask ^ e.todo;
    if (changed == 0) {
      return;
    }
    news = true;
    for (long bits = changed; bits != 0; bits &= bits - 1) {
      int node = Long.numberOfTrailingZeros(bits);
      newlyOwed[node] += (mask & 1L << node) != 0 ? 1 : -1;
    }
    pending += Long.bitCount(mask) - Long.bitCount(e.todo);
    e.todo = mask;
  }

  /**
   * After a hand-off: the predecessor may be left on nodes that did not grant to its follower, and
   * on those that have not answered yet, which get until then to do it.
   */
  void addBehind(
      LockRequest.Release request,
      long notGranted,
      long unanswered,
      long lifeNanos,
      long untilNanos,
      long nowNanos) {
    if (notGranted == 0) {
      return;
    }
    Entry e = entry(request, notGranted, nowNanos + lifeNanos);
    send(e, notGranted & ~unanswered, nowNanos);
    e.behind = unanswered;
    e.retry = unanswered != 0;
    e.retryNanos = untilNanos;
    timed.add(e);
  }

  /** A node answered the hand-off late: granted, so the predecessor is gone there, or not. */
  void onFollower(String predecessorId, int node, boolean granted, long nowNanos) {
    long bit = 1L << node;
    Entry e = entries.get(predecessorId);
    if (e == null || (e.todo & bit) == 0) {
      return;
    }
    e.behind &= ~bit;
    if (!granted) {
      send(e, bit, nowNanos);
    } else if (!e.isOpen(node)) {
      todo(e, e.todo & ~bit);
      removeIfDone(e);
    }
  }

  private void send(Entry e, long mask, long nowNanos) {
    long now = 0;
    for (int i = 0; i < nodes.count(); i++) {
      if ((mask & 1L << i) != 0 && !e.isOpen(i) && nodes.status(i).usable()) {
        now |= 1L << i;
      }
    }
    if (now != 0) {
      e.asked(now);
      e.sentNanos = nowNanos;
      orders.add(new Order.Send(e, e.request, now));
    }
  }

  void onReply(Entry e, int node, NodeReply reply, long nowNanos) {
    e.replies[node] = reply;
    long bit = 1L << node;
    if (reply.code().definite()) {
      todo(e, e.todo & ~bit);
      settleIfConfirmed(e);
      removeIfDone(e);
      return;
    }
    if (!alive.contains(e)) {
      removeIfDone(e);
      return;
    }
    NodeError error = reply.error();
    if (error != null && error.kind() == NodeError.Kind.CLOSED) {
      todo(e, e.todo & ~bit); // Nobody is left to send it; the time to live has to do.
    } else if (nodes.status(node).usable()
        && nodes.status(node).connection() != reply.connection()) {
      send(e, bit, nowNanos); // A new connection is there already.
    } else if (error == null || error.kind() != NodeError.Kind.DISCONNECTED) {
      long delay = Math.min(MOST_RETRY_NANOS, FIRST_RETRY_NANOS << Math.min(6, e.failures++));
      long at = nowNanos + delay;
      e.retryNanos = e.retry && e.retryNanos - at < 0 ? e.retryNanos : at;
      e.retry = true;
      timed.add(e);
    } // else: the next connection will carry it.
  }

  /**
   * While a release is on its way its order stays, even past the end of the keys: a grant that
   * comes late is recognised by it.
   */
  private void removeIfDone(Entry e) {
    if (e.ticket == null && (e.todo == 0 || (!alive.contains(e) && e.open() == 0))) {
      forget(e);
    }
  }

  private void forget(Entry e) {
    todo(e, 0);
    timed.remove(e);
    alive.remove(e);
    entries.remove(e.request.leaseId(), e);
  }

  private void settleIfConfirmed(Entry e) {
    Ticket ticket = e.ticket;
    if (ticket == null) {
      return;
    }
    int confirmed = 0;
    for (NodeReply reply : e.replies) {
      confirmed += reply != null && reply.code().definite() ? 1 : 0;
    }
    if (confirmed >= Quorum.of(nodes.count())) {
      e.ticket = null;
      orders.add(new Order.Settle(ticket.ticket(), Order.Outcome.DONE));
    }
  }

  /**
   * A grant came for something that is already being undone, or was.
   *
   * @param lease whether it has been a lease: then it is released, never rolled back, because a
   *     copy of its extend may be under way as well
   */
  void onLateGrant(LockRequest.Acquire request, boolean lease, int node, long nowNanos) {
    long bit = 1L << node;
    Entry e = entries.get(request.leaseId());
    if (e != null) {
      if (!e.isOpen(node) && (e.behind & bit) == 0) {
        todo(e, e.todo | bit);
        send(e, bit, nowNanos);
      }
      return; // An open one, or a hand-off, is behind the acquire on the same connection.
    }
    LockRequest.Release undo =
        new LockRequest.Release(request.keys(), request.leaseId(), request.token(), lease, 0, null);
    add(undo, bit, request.ttlMillis() * 1_000_000L, null, nowNanos);
  }

  /** The node has a new connection: what it still owes is sent again. */
  void onUsable(int node, long nowNanos) {
    for (Entry e : alive) {
      if ((e.todo & 1L << node) != 0) {
        send(e, 1L << node, nowNanos);
      }
    }
  }

  void onTimer(long nowNanos) {
    for (Entry e : new ArrayList<>(timed)) {
      Ticket ticket = e.ticket;
      if (ticket != null && e.ticketNanos - nowNanos <= 0) {
        e.ticket = null;
        orders.add(
            new Order.Settle(
                ticket.ticket(),
                Order.Outcome.failed(
                    Reports.ofReplies(nodes, e.request.keys(), e.replies, e.sentNanos, nowNanos))));
      }
      if (e.retry && e.retryNanos - nowNanos <= 0) {
        e.retry = false;
        e.behind = 0;
        send(e, e.todo, nowNanos);
      }
      if (e.ticket == null && !e.retry) {
        timed.remove(e);
      }
      removeIfDone(e);
    }
    Entry oldest = oldestAlive();
    while (oldest != null && oldest.untilNanos - nowNanos <= 0) {
      alive.remove(oldest);
      oldest.retry = false;
      removeIfDone(oldest);
      oldest = oldestAlive();
    }
  }

  /** Who was added with a shorter life than those before it is only kept a little longer. */
  private @Nullable Entry oldestAlive() {
    return alive.isEmpty() ? null : alive.iterator().next();
  }

  /** Gives up the earliest order. */
  void forgetOldest() {
    for (Entry e : entries.values()) {
      if (e.ticket == null) {
        forget(e);
        return;
      }
    }
  }

  /** Calls the consumer with every instant at which {@link #onTimer} has something to do. */
  void deadlines(NextWake wake) {
    if (entries.isEmpty()) {
      return; // As while a lease is asked for; looked at with every answer.
    }
    for (Entry e : timed) {
      if (e.ticket != null) {
        wake.at(e.ticketNanos);
      }
      if (e.retry) {
        wake.at(e.retryNanos);
      }
    }
    Entry oldest = oldestAlive();
    if (oldest != null) {
      wake.at(oldest.untilNanos);
    }
  }
}
