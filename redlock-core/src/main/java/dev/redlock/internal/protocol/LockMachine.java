package dev.redlock.internal.protocol;

import dev.redlock.AcquireVerdict;
import dev.redlock.LeaseEnd;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * All that one client does about one set of names. Events and time come in; effects go out.
 *
 * <p>It routes each event to the part that it concerns:
 *
 * <ul>
 *   <li>{@link Waiters}: the callers that wait, and the rounds for the head of their queue.
 *   <li>{@link LeaseKeeper}: the lease that is held.
 *   <li>{@link PendingReleases}: releases that nodes have not confirmed.
 * </ul>
 *
 * <p>Each event may change what all of them do next, so each ends with {@link Waiters#proceed}.
 *
 * <p>Confined to an actor of the shell (or to the simulator): none of its methods is safe for
 * concurrent use.
 */
public final class LockMachine {
  private final LockKeys keys;
  private final Nodes nodes;
  private final List<Effect> effects = new ArrayList<>(4);
  private final PendingReleases pendingReleases;
  private final QueuePlaces places;
  private final HomeNode home;
  private final Turn turn = new Turn();
  private final TokenChoice tokens;
  private final Wait wait;
  private final Acquirer acquirer;
  private final LeaseKeeper leases;
  private final Waiters waiters;

  /**
   * @param process names this client in the queues of the nodes; the same for all its locks
   */
  public LockMachine(LockKeys keys, Nodes nodes, Randomness random, String process) {
    this.keys = keys;
    this.nodes = nodes;
    pendingReleases = new PendingReleases(nodes, effects);
    places = new QueuePlaces(keys, nodes, random, pendingReleases, process);
    home = new HomeNode(nodes, keys);
    tokens = new TokenChoice(nodes);
    wait = new Wait(nodes, home, random);
    acquirer =
        new Acquirer(
            keys, nodes, random, effects, tokens, home, turn, places, pendingReleases, wait);
    leases = new LeaseKeeper(nodes, random, effects, pendingReleases, wait, turn);
    waiters = new Waiters(keys, nodes, effects, turn, places, wait, acquirer, leases);
  }

  // What is known from outside.

  public LockKeys keys() {
    return keys;
  }

  /** What is to be done, in this order; the caller carries it out and clears the list. */
  public List<Effect> effects() {
    return effects;
  }

  /** Whether no caller waits, no lease is held, and no release is pending. */
  public boolean isIdle() {
    return leases.lease() == null
        && !wait.isAsking()
        && waiters.isEmpty()
        && pendingReleases.isEmpty();
  }

  /**
   * Whether the machine may be thrown away: it is idle, and has been for a while. Until then it
   * remembers whether others want the lock, so that they get their turn.
   */
  public boolean mayRetire(long now) {
    long lingers = turn.lingersUntilNanos();
    return isIdle() && (waiters.isClosed() || lingers == Long.MIN_VALUE || lingers - now <= 0);
  }

  /** How many callers wait, including the head of their queue. */
  public int waiting() {
    return waiters.length();
  }

  /** How many releases nodes have not confirmed, over all nodes. */
  public int pendingReleases() {
    return pendingReleases.pending();
  }

  public @Nullable HeldLease lease() {
    return leases.lease();
  }

  /** When {@link #onTimer} is to be called; {@link Long#MAX_VALUE} for never. */
  public long delayNanos(long nowNanos) {
    NextWake wake = new NextWake(nowNanos);
    waiters.deadlines(wake);
    leases.deadlines(wake);
    if (turn.lingersUntilNanos() != Long.MIN_VALUE && isIdle()) {
      wake.at(turn.lingersUntilNanos());
    }
    pendingReleases.deadlines(wake);
    return wake.delayNanos();
  }

  // Events of users.

  public void submit(Waiter w, long now, long wall) {
    leases.endIfOverdue(now, wall);
    if (waiters.submit(w, now)) {
      waiters.proceed(now, wall);
    }
  }

  /**
   * A waiter gives up. Cancelling the caller never cancels the clean-up.
   *
   * @return false if the waiter does not wait here: it has the lease, or was refused
   */
  public boolean cancel(Waiter w, long now, long wall) {
    leases.endIfOverdue(now, wall);
    boolean waited = waiters.cancel(w, now);
    if (waited) {
      waiters.proceed(now, wall);
    }
    return waited;
  }

  /**
   * The holder releases; {@code ack} is settled when a quorum has confirmed, or at once if the lock
   * is handed off.
   */
  public void release(HeldLease l, Effect.Ack ack, long now, long wall) {
    l.askRelease();
    if (l != leases.lease()) {
      effects.add(new Effect.Settle(ack, Effect.Result.DONE));
      return;
    }
    Waiter next = waiters.next();
    if (next != null && l.mayHandOff(next, now, wall)) {
      effects.add(new Effect.Settle(ack, Effect.Result.DONE));
      waiters.handOff(l, next, now);
    } else {
      leases.release(l, LeaseEnd.RELEASED, ack, now, wall);
    }
    waiters.proceed(now, wall);
  }

  /** The holder wants more time now. */
  public void extend(HeldLease l, Effect.Ack ack, long now, long wall) {
    leases.endIfOverdue(now, wall);
    LeaseEnd over = l.end();
    if (l == leases.lease()) {
      l.extender.extendNow(ack, now, wall);
    } else {
      effects.add(
          new Effect.Settle(ack, new Effect.Result(null, over == null ? LeaseEnd.RELEASED : over)));
    }
  }

  /** No code can release the lease any more, so it is no longer extended and expires. */
  public void stopExtending(HeldLease l) {
    if (l == leases.lease()) {
      l.extender.stop();
    }
  }

  public void stopListening(long now) {
    places.stopListening(now);
  }

  /** No quorum of nodes stores a lease with these tokens any more: ends one that is held. */
  public void broken(LongPredicate ended, long now, long wall) {
    leases.endIfOverdue(now, wall);
    leases.broken(ended, now);
    waiters.proceed(now, wall);
  }

  /** Refuses all waiters, now and from now on; the lease goes on. */
  public void refuseWaiters(long now) {
    waiters.close(now);
  }

  /** No new work; waiters are refused, the lease is released. */
  public void close(long now, long wall) {
    refuseWaiters(now);
    HeldLease l = leases.lease();
    if (l != null) {
      leases.close(l, now, wall);
    }
  }

  // Events of nodes and of time.

  public void onReply(Exchange exchange, int node, NodeReply reply, long now, long wall) {
    if (!exchange.answered(node)) {
      return; // A copy.
    }
    leases.endIfOverdue(now, wall);
    if (reply.code().definite()) {
      nodes.heard(node, exchange.sentNanos(node), now, reply.nodeMicros());
      tokens.seen(reply.fence(), now);
    }
    if (exchange instanceof AcquireRound r) {
      onVote(r, node, reply, now, wall);
    } else if (exchange instanceof ExtendRound r) {
      leases.onReply(r, node, reply, now, wall);
    } else if (exchange instanceof PendingRelease e) {
      if (e.request.ended()) { // The reply to a roll-back may count this process's own place.
        turn.released(reply, node == home.node());
      }
      pendingReleases.onReply(e, node, reply, now);
    } else if (exchange instanceof QueueRequest q) {
      waiters.conclude(acquirer.onQueueReply(q, reply, now, wall), now);
    }
    waiters.proceed(now, wall);
  }

  private void onVote(AcquireRound r, int node, NodeReply reply, long now, long wall) {
    NodeError error = reply.error();
    boolean notExecuted = error != null && error.notExecuted();
    if (notExecuted) {
      r.recipients.notSent(node);
    }
    if (r == wait.round()) {
      waiters.conclude(acquirer.onReply(r, node, reply, now, wall), now);
      return;
    }
    if (wait.isNewest(r)) {
      r.record(node, reply, now);
    }
    if (notExecuted && r.verdict() != AcquireVerdict.ACQUIRED) {
      // Nothing to roll back on the node, but its roll-back was sent before this reply came.
      pendingReleases.onNotExecuted(r.request.leaseId(), node, now);
    }
    onLateVote(r, node, reply, now);
  }

  /** A vote for a round that is over. */
  private void onLateVote(AcquireRound r, int node, NodeReply reply, long now) {
    boolean granted = reply.code() == Code.GRANTED;
    if (!granted && waiters.isEmpty()) {
      places.leave(1L << node, now);
    }
    boolean won = r.verdict() == AcquireVerdict.ACQUIRED;
    if (won) {
      places.served(r, 1L << node);
      // The home node knows the other waiters; it may be too far away to be among the fastest.
      turn.heard(reply);
    }
    HeldLease l = leases.lease();
    if (l != null && l.grant.awaits(r)) {
      l.extender.onLateVote(node, reply, now);
    } else if (granted && (l == null || !l.id().equals(r.request.leaseId()))) {
      pendingReleases.undo(r.request, won, 1L << node, now);
    }
  }

  /**
   * A node reports that it has written or deleted a key, or that the key has expired.
   *
   * @param key a lock key: the lock may be free, or the lease lost; or the wake key or watch key of
   *     this process: it may be its turn
   */
  public void onInvalidation(int node, String key, long now, long wall) {
    HeldLease l = leases.lease();
    if (places.isWakeKey(key)) {
      wait.onTurn(now);
    } else if (places.isWatchKey(key)) {
      wait.onTurnBefore(now);
    } else if (l == null) {
      waiters.onInvalidation(node, now);
      return;
    } else {
      l.extender.onInvalidation(node);
    }
    onTimer(now, wall);
  }

  /** A carrier of release hints, or another lock of this process, says that a name may be free. */
  public void onReleaseHint(long now, long wall) {
    wait.onReleaseHint(keys.size() > 1, now);
    if (leases.lease() != null) {
      onTimer(now, wall);
    }
  }

  /** The lease may begin the extension that it waited for. */
  public void onAdmitted(long now, long wall) {
    leases.endIfOverdue(now, wall);
    HeldLease l = leases.lease();
    if (l != null) {
      l.extender.onAdmitted(now, wall);
    }
    pendingReleases.onAdmitted(now);
    waiters.proceed(now, wall);
  }

  public void onNodeStatus(int node, long now, long wall) {
    leases.endIfOverdue(now, wall);
    NodeStatus status = nodes.status(node);
    if (status.works()) {
      pendingReleases.onWorks(node, now);
      HeldLease l = leases.lease();
      if (l != null) {
        l.extender.onWorks(node, now);
      }
    }
    wait.onNodeStatus(node, now);
    waiters.proceed(now, wall);
  }

  public void onTimer(long now, long wall) {
    leases.onTimer(now, wall);
    waiters.onTimer(now, wall);
    pendingReleases.onTimer(now);
    waiters.proceed(now, wall);
  }
}
