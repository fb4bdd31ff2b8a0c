package dev.redlock.internal.protocol;

import dev.redlock.LeaseEnd;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import org.jspecify.annotations.Nullable;

/**
 * How long this client has been served in a row, and when it is somebody else's turn. Between
 * processes nobody grants turns: whoever has just freed the lock is the first to ask again, and
 * always would be. So it stays back after {@code maxHandOffs} in a row, if others want it.
 *
 * <p>That others want it, the nodes tell with a grant or a release, once somebody was refused
 * there. All of it may be wrong and costs only time.
 */
final class Turn {
  private static final long LINGER_NANOS = 100_000_000;

  private final Nodes nodes;
  private final Contention contention;

  /** Leases in a row that went to this client, by hand-off or because it was back first. */
  private int inRow;

  private boolean othersWant;
  private long lastEndNanos;
  private boolean stayingBack;
  private long stayBackNanos;

  /** What was freed after it had been handed on without a question, until the door has answered. */
  private @Nullable String unheard;

  private int unheardDoor;
  private long unheardUntilNanos;

  Turn(Nodes nodes, Contention contention) {
    this.nodes = nodes;
    this.contention = contention;
  }

  /** Hand-offs in a row up to the lease that is held. */
  int handOffs() {
    return inRow - 1;
  }

  /** When what is remembered here may be forgotten, or {@link Long#MIN_VALUE} if it is nothing. */
  long lingersUntilNanos() {
    return inRow == 0 ? Long.MIN_VALUE : lastEndNanos + LINGER_NANOS;
  }

  /** A round won. */
  void granted(AcquireRound r, long now) {
    boolean follows = r.predecessor != null || now - lastEndNanos <= contention.rowGapNanos();
    inRow = follows ? inRow + 1 : 1;
    othersWant = r.othersInLine() > 0 || r.sawHolder() || (follows && othersWant);
    unheard = null;
  }

  /** The next of this process has it without a round. */
  void passedOn() {
    inRow++;
  }

  /** A node has answered the round that won, or a release. */
  void heard(NodeReply reply) {
    othersWant |= reply.othersInLine() > 0 || reply.code() == ReplyCode.HELD;
  }

  /** A node has answered this release, one way or the other. */
  void released(Cleanup.Entry e, int node, NodeReply reply, long now) {
    heard(reply);
    if (node == unheardDoor && e.request.leaseId().equals(unheard)) {
      unheard = null;
      lastEndNanos = now; // Waiting for it has made nobody else the one that was served.
    }
  }

  /** A lease has ended, and is being freed. */
  void ended(HeldLease l, LeaseEnd how, long now) {
    lastEndNanos = now;
    if (how != LeaseEnd.RELEASED || !l.wasPassedOn()) {
      return;
    }
    unheardDoor = contention.door(false);
    if (unheardDoor >= 0) {
      unheard = l.id();
      long patience = nodes.knowledge(unheardDoor).patience();
      unheardUntilNanos = now + Math.min(l.terms.nodeTimeoutNanos(), patience);
    }
  }

  /** Somebody else has the lock. */
  void isOthers() {
    inRow = 0;
  }

  /**
   * Served often enough in a row while others want it: they come first. Whoever was pushed asks
   * within a few round trips, and this client was there before them each time.
   */
  boolean staysBack(Terms terms, long now) {
    if (stayingBack) {
      stayingBack = stayBackNanos - now > 0;
      return stayingBack;
    }
    boolean often = inRow >= Math.max(1, terms.maxHandOffs());
    if (often && !othersWant && unheard != null) {
      if (unheardUntilNanos - now > 0) {
        return true; // No node was asked for a while: the door's answer will tell.
      }
      unheard = null;
    }
    if (inRow == 0 || now - lastEndNanos > contention.rowGapNanos()) {
      return false;
    }
    if (othersWant) {
      contention.expectOthers();
      stayingBack = often;
      stayBackNanos = now + contention.stayBackFor();
    }
    if (often) { // Also when nobody else wants it: the lock was freed, and the count begins again.
      inRow = 0;
      othersWant = false;
    }
    return stayingBack;
  }

  /** Until when {@link #staysBack} at most, as far as is known; may lie in the past. */
  void deadlines(NextWake wake) {
    if (stayingBack && contention.isTime(stayBackNanos)) {
      wake.at(stayBackNanos);
    } else if (unheard != null && contention.isTime(unheardUntilNanos)) {
      wake.at(unheardUntilNanos);
    } else {
      contention.deadlines(wake);
    }
  }
}
