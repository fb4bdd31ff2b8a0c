package dev.redlock.internal.protocol;

import dev.redlock.AcquireVerdict;
import dev.redlock.internal.protocol.ExtendSlot.Order;
import dev.redlock.internal.protocol.ExtendSlot.State;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Admits the extension rounds of all leases of one client: of those that can still be extended in
 * time, the lease that expires first comes first. Early extensions come after them.
 *
 * <p>The problem: after a pause all leases are due at once. The naive way sends all extensions, and
 * sends each again that got no reply in time. It fails in this history: 600 leases, nodes that do
 * 500 requests per second, a node timeout of 100 ms. The first 50 replies come in time. All others
 * are too old when they come. Their leases are sent again, behind the requests that are still in
 * the nodes' sockets, and are too old again. All 600 leases expire, although the nodes could have
 * extended them within 1.2 s.
 *
 * <p>So rounds wait here, and a {@link RoundLimiter} of its own decides how many are under way:
 * acquires never take the place of an extension. It begins low, also after a pause, and doubles per
 * round trip while rounds are fast. A burst that is too large would waste time that the leases do
 * not have.
 *
 * <p>The order decides what an overload costs. The naive order is by deadline alone. It fails in
 * this history: 3,000 leases of 6 s on the same nodes. The first lease always ends before its
 * replies come, so all rounds are in vain. To release an expired lease costs the nodes as much as
 * to extend it, and these releases delay the replies further. All 3,000 leases expire, although the
 * nodes could have kept nearly all of them. So a lease that may end before a round does comes after
 * all that have more; of such leases the one with the most left comes first. The releases of
 * expired leases come last, four at a time, because their replies do not change the limit.
 *
 * <p>While no quorum replies, the limit is the lowest. Requests to a hung node are executed when it
 * resumes, before those that count.
 *
 * <p>Safety does not depend on this order, nor on the limit. The machines of all locks share the
 * queue, and each runs in an actor of its own: the shell's subclass has the monitor.
 */
public class ExtendQueue {
  private static final int FIRST_LIMIT = 4;
  private static final int MIN_LIMIT = 1;
  private static final int MAX_RELEASES = 4;

  private final RoundLimiter limiter = new RoundLimiter(FIRST_LIMIT, MIN_LIMIT);
  private final TreeSet<ExtendSlot> waiting = new TreeSet<>(ExtendSlot::inOrder);

  /** The oldest first. */
  private final Set<ExtendSlot> taken = new LinkedHashSet<>();

  private long sequence;

  /** The usual time of a round; longer than a node timeout where nodes often stand still. */
  private long usualNanos;

  /** When a round ended last. */
  private long endedNanos;

  /** How many rounds are under way, or may begin. */
  public int underWay() {
    return taken.size();
  }

  /** How many leases wait, and releases of expired ones. */
  public int waiting() {
    return waiting.size();
  }

  /**
   * The grant wants a round. Its slot waits until it is admitted: by this call, or by a later one
   * for another slot. A slot that waits may ask again, and may then be more urgent.
   *
   * @param urgentNanos the order: the deadline of the lease, or before; much later for an early
   *     extension
   * @param deadlineNanos when the lease ends
   * @return the slots that are admitted now; the caller tells them
   */
  public List<ExtendSlot> ask(
      ExtendSlot slot, long urgentNanos, long deadlineNanos, long nowNanos) {
    forgetOverdue(nowNanos); // This slot may be one of them.
    if (slot.wantsPlace(urgentNanos)) {
      waiting.remove(slot);
      slot.await(Order.EXTENSION, urgentNanos, deadlineNanos, sequence++);
      waiting.add(slot);
    }
    return admit(nowNanos);
  }

  /** The lease of this slot has expired, and is to be released. As {@link #ask}. */
  public List<ExtendSlot> askForRelease(ExtendSlot slot, long nowNanos) {
    forgetOverdue(nowNanos); // This slot may be one of them.
    if (slot.state == State.FREE) {
      slot.await(Order.RELEASE, 0, 0, sequence++);
      waiting.add(slot);
    }
    return admit(nowNanos);
  }

  /** A round that was sent at this time has ended. Returns the slots that are admitted now. */
  public List<ExtendSlot> ended(
      ExtendSlot slot, ExtendVerdict verdict, long sentNanos, Nodes nodes, long nowNanos) {
    if (slot.state == State.TAKEN) { // Else it was overdue, and counts no longer.
      free(slot);
      endedNanos = nowNanos;
      usualNanos += (nowNanos - sentNanos - usualNanos) / 16;
      long timeoutNanos = slot.timeoutNanos;
      limiter.ended(acquireVerdict(verdict), sentNanos, timeoutNanos, nodes, nowNanos);
      if (verdict != ExtendVerdict.RENEWED
          && nowNanos - sentNanos >= timeoutNanos
          && !RoundLimiter.quorumHeardSince(nowNanos - timeoutNanos, nodes)) {
        limiter.atMost(MIN_LIMIT);
      }
    }
    return admit(nowNanos);
  }

  private static AcquireVerdict acquireVerdict(ExtendVerdict verdict) {
    return switch (verdict) {
      case RENEWED -> AcquireVerdict.ACQUIRED;
      case UNKNOWN -> AcquireVerdict.TOO_SLOW;
      case LOST, UNDECIDED -> AcquireVerdict.HELD; // Tells nothing of the load.
    };
  }

  /**
   * Nothing is wanted any more, or a release has ended. Returns the slots that are admitted now.
   */
  public List<ExtendSlot> giveUp(ExtendSlot slot, long nowNanos) {
    switch (slot.state) {
      case FREE -> {
        return List.of();
      }
      case WAITING -> {
        waiting.remove(slot);
        slot.state = State.FREE;
      }
      case TAKEN -> {
        free(slot);
        limiter.gaveUp();
      }
    }
    return admit(nowNanos);
  }

  private void free(ExtendSlot slot) {
    taken.remove(slot);
    slot.state = State.FREE;
  }

  /** Whether the first may begin. */
  private boolean isRoomForFirst() {
    return !waiting.isEmpty()
        && limiter.underWay() < limiter.limit()
        && (!waiting.first().isRelease()
            || taken.stream().filter(ExtendSlot::isRelease).count() < MAX_RELEASES);
  }

  private List<ExtendSlot> admit(long nowNanos) {
    forgetOverdue(nowNanos);
    if (!isRoomForFirst()) {
      return List.of();
    }
    List<ExtendSlot> admitted = new ArrayList<>(2);
    while (isRoomForFirst()) {
      ExtendSlot first = waiting.first();
      waiting.remove(first);
      if (first.isTooLate(2 * usualNanos, nowNanos)) {
        first.comeLater();
        waiting.add(first);
      } else {
        begin(first, nowNanos);
        admitted.add(first);
      }
    }
    return admitted;
  }

  private void begin(ExtendSlot slot, long nowNanos) {
    if (taken.isEmpty() && nowNanos - endedNanos > slot.timeoutNanos) {
      limiter.atMost(FIRST_LIMIT); // How fast the nodes are is no longer known.
    }
    slot.take(nowNanos);
    taken.add(slot);
    limiter.began();
  }

  /** A thread that is paused in the middle of a round must not keep others from theirs. */
  private void forgetOverdue(long nowNanos) {
    for (Iterator<ExtendSlot> oldest = taken.iterator(); oldest.hasNext(); ) {
      ExtendSlot slot = oldest.next();
      if (!slot.isOverdue(nowNanos)) {
        return;
      }
      oldest.remove();
      slot.state = State.FREE;
      limiter.gaveUp();
    }
  }
}
