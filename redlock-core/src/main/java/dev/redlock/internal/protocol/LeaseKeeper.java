package dev.redlock.internal.protocol;

import dev.redlock.LeaseEnd;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReleaseHints.Reason;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The lease that this client holds, if it holds one: how it begins, changes hands and ends. A lease
 * that ends is released on all nodes that may store it, which is step 5 of the Redis specification.
 */
final class LeaseKeeper {
  private final Nodes nodes;
  private final Randomness random;
  private final List<Effect> effects;
  private final PendingReleases pendingReleases;
  private final Wait wait;
  private final Turn turn;
  private @Nullable HeldLease lease;

  /** Until when this process last had the lock, or kept it taken. */
  private long takenUntilNanos = Long.MIN_VALUE / 2;

  LeaseKeeper(
      Nodes nodes,
      Randomness random,
      List<Effect> effects,
      PendingReleases pendingReleases,
      Wait wait,
      Turn turn) {
    this.nodes = nodes;
    this.random = random;
    this.effects = effects;
    this.pendingReleases = pendingReleases;
    this.wait = wait;
    this.turn = turn;
  }

  @Nullable HeldLease lease() {
    return lease;
  }

  /** Whether this process had the lock at this time or later, or nodes kept its keys. */
  boolean wasTakenSince(long nanos) {
    return lease != null || takenUntilNanos - nanos >= 0;
  }

  /** Whether nodes keep the keys of the last lease, although it has ended. */
  boolean keepsTaken(long now) {
    return lease == null && takenUntilNanos - now > 0;
  }

  void deadlines(NextWake wake) {
    HeldLease l = lease;
    if (l != null) {
      l.deadlines(wake);
    }
  }

  // Begin.

  /** The round has won the lock for the waiter. */
  void grant(Waiter w, AcquireRound won, long now) {
    turn.granted(won);
    HeldLease l = new HeldLease(new Grant(won, w.options), nodes, random, effects);
    lease = l;
    effects.add(new Effect.Granted(w, l));
    l.extender.begin(now);
  }

  /** The next waiter has the lock by the same grant; no node is asked. */
  void handOff(HeldLease l, Waiter next, long now) {
    HeldLease successor = new HeldLease(l, now);
    lease = successor;
    l.finish(LeaseEnd.HANDED_OFF);
    effects.add(new Effect.End(l, LeaseEnd.HANDED_OFF));
    effects.add(new Effect.ReleaseHint(l, Reason.HANDED_OFF));
    effects.add(new Effect.Granted(next, successor));
    successor.extender.resume(successor);
  }

  // Events.

  void onReply(ExtendRound r, int node, NodeReply reply, long now, long wall) {
    HeldLease l = lease;
    if (l != null && l.extender == r.lease.extender) { // Else its grant is over.
      endIf(l, l.extender.onReply(r, node, reply, now, wall), now);
    }
  }

  void onTimer(long now, long wall) {
    endIfOverdue(now, wall);
    HeldLease l = lease;
    if (l != null) {
      endIf(l, l.extender.onTimer(now, wall), now);
    }
  }

  void endIfOverdue(long now, long wall) {
    HeldLease l = lease;
    if (l != null) {
      endIf(l, l.overdue(now, wall), now);
    }
  }

  private void endIf(HeldLease l, @Nullable LeaseEnd how, long now) {
    if (how != null) {
      end(l, how, null, now);
    }
  }

  // End.

  /** A quorum of nodes has ended the leases with these tokens. */
  void broken(LongPredicate ended, long now) {
    HeldLease l = lease;
    if (l != null && ended.test(l.grant.token)) {
      end(l, LeaseEnd.LOST, null, now);
    }
  }

  /** Ends the lease, in this way if it was still valid. */
  void release(HeldLease l, LeaseEnd how, Effect.@Nullable Ack ack, long now, long wall) {
    boolean valid = l.validity().remaining(now, wall) > 0;
    end(l, valid ? how : LeaseEnd.EXPIRED, ack, now);
  }

  /** The client closes. A holder that has not asked for the release learns that it was cut off. */
  void close(HeldLease l, long now, long wall) {
    LeaseEnd how = l.isReleaseAsked() ? LeaseEnd.RELEASED : LeaseEnd.CLOSED;
    l.askRelease();
    release(l, how, null, now, wall);
  }

  /** Ends the lease here, then on the nodes; the ack is settled when a quorum has confirmed. */
  private void end(HeldLease l, LeaseEnd how, Effect.@Nullable Ack ack, long now) {
    lease = null;
    l.finish(how);
    l.extender.cease(now);
    effects.add(new Effect.End(l, how));
    boolean released = how.byHolder() || how == LeaseEnd.CLOSED;
    long keepNanos = l.keepNanos(now);
    long keepMillis = keepNanos > 0 ? keepNanos / 1_000_000L + 1 : 0;
    takenUntilNanos = now + keepMillis * 1_000_000L;
    pendingReleases.release(l, keepMillis, ack, now);
    effects.add(new Effect.ReleaseHint(l, released ? Reason.RELEASED : Reason.LOST));
    if (keepMillis > 0) {
      wait.keepTaken(now + (keepMillis + 1) * 1_000_000L); // Nodes round up.
    }
    turn.ended(l, now);
  }
}
