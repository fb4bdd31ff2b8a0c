package dev.redlock.internal.protocol;

import static java.util.Objects.requireNonNull;

import dev.redlock.AcquireVerdict;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Admits the extension rounds of all leases of one client: the lease that expires first comes
 * first.
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
 * round trip. A burst that is too large would waste time that the leases do not have. Three
 * differences to acquires:
 *
 * <ul>
 *   <li>A caller that asks comes before leases that have more time. But callers that ask again and
 *       again take no more than every second round: else the others would wait until they all have
 *       a node timeout left.
 *   <li>While no quorum replies, the limit is the lowest. Requests to a hung node are executed when
 *       it resumes, before those that count.
 *   <li>A lease that ends before a round would does not take the place of one that can be kept. It
 *       is extended if no other lease waits.
 * </ul>
 *
 * <p>Safety does not depend on this order, nor on the limit. The machines of all locks share the
 * queue, and each runs in an actor of its own: the shell's subclass has the monitor.
 */
public class ExtendQueue {
  private static final int FIRST_LIMIT = 4;
  private static final int MIN_LIMIT = 1;

  private final RoundLimiter limiter = new RoundLimiter(FIRST_LIMIT, MIN_LIMIT);
  private final TreeSet<ExtendSlot> waiting = new TreeSet<>(ExtendSlot::inOrder);

  /** Those that come earlier than their lease needs. */
  private final TreeSet<ExtendSlot> early = new TreeSet<>(ExtendSlot::inOrder);

  /** Those that waited until a round would end after their lease. */
  private final TreeSet<ExtendSlot> tooLate = new TreeSet<>(ExtendSlot::inOrder);

  /** The oldest first. */
  private final Set<ExtendSlot> taken = new LinkedHashSet<>();

  private long sequence;

  /** Whether the newest round was that of an early one. */
  private boolean earlyBegan;

  /** When a round ended last. */
  private long endedNanos;

  /** The usual duration of a round that renews a lease. */
  private long usualNanos;

  /** How many rounds are under way, or may begin. */
  public int underWay() {
    return taken.size();
  }

  /** How many leases wait. */
  public int waiting() {
    return waiting.size() + early.size() + tooLate.size();
  }

  /**
   * The grant wants a round. Its slot waits until it is admitted: by this call, or by a later one
   * for another slot. A slot that waits may ask again, and may then be more urgent.
   *
   * @param urgentNanos the order: the deadline of the lease, or before
   * @param deadlineNanos when the lease ends
   * @return the slots that are admitted now; the caller tells them
   */
  public List<ExtendSlot> ask(
      ExtendSlot slot, long urgentNanos, long deadlineNanos, long nowNanos) {
    if (slot.state == ExtendSlot.State.TAKEN) {
      return List.of(slot);
    }
    long urgent = urgentNanos;
    if (slot.state == ExtendSlot.State.WAITING) {
      remove(slot);
      urgent = slot.urgentNanos() - urgent < 0 ? slot.urgentNanos() : urgent;
    }
    slot.await(urgent, deadlineNanos, sequence++);
    (slot.isEarly() ? early : waiting).add(slot);
    return admit(nowNanos);
  }

  /** A round that was sent at this time has ended. Returns the slots that are admitted now. */
  public List<ExtendSlot> ended(
      ExtendSlot slot, ExtendVerdict verdict, long sentNanos, Nodes nodes, long nowNanos) {
    if (slot.state == ExtendSlot.State.TAKEN) { // Else it was overdue, and counts no longer.
      free(slot);
      endedNanos = nowNanos;
      long timeoutNanos = slot.timeoutNanos;
      limiter.ended(acquireVerdict(verdict), sentNanos, timeoutNanos, nodes, nowNanos);
      long took = nowNanos - sentNanos;
      if (verdict == ExtendVerdict.RENEWED) {
        usualNanos += (took - usualNanos) / 8;
      } else if (took >= timeoutNanos
          && !RoundLimiter.quorumHeardSince(nowNanos - timeoutNanos, nodes)) {
        limiter.atMost(MIN_LIMIT);
      }
    }
    return admit(nowNanos);
  }

  private static AcquireVerdict acquireVerdict(ExtendVerdict verdict) {
    return switch (verdict) {
      case RENEWED -> AcquireVerdict.ACQUIRED;
      case TOO_OLD, UNKNOWN -> AcquireVerdict.TOO_SLOW;
      case LOST, UNDECIDED -> AcquireVerdict.HELD; // Tells nothing of the load.
    };
  }

  /** The grant wants no round any more. Returns the slots that are admitted now. */
  public List<ExtendSlot> giveUp(ExtendSlot slot, long nowNanos) {
    switch (slot.state) {
      case FREE -> {
        return List.of();
      }
      case WAITING -> {
        remove(slot);
        slot.state = ExtendSlot.State.FREE;
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
    slot.state = ExtendSlot.State.FREE;
  }

  private void remove(ExtendSlot slot) {
    if (!waiting.remove(slot) && !early.remove(slot)) {
      tooLate.remove(slot);
    }
  }

  private boolean hasRoom() {
    return limiter.underWay() < limiter.limit();
  }

  private List<ExtendSlot> admit(long nowNanos) {
    forgetOverdue(nowNanos);
    if (waiting() == 0 || !hasRoom()) {
      return List.of();
    }
    List<ExtendSlot> admitted = new ArrayList<>(2);
    while (waiting() > 0 && hasRoom()) {
      ExtendSlot slot = next(nowNanos);
      begin(slot, nowNanos);
      admitted.add(slot);
    }
    return admitted;
  }

  /** The slot to be admitted next; one must be waiting. */
  private ExtendSlot next(long nowNanos) {
    ExtendSlot first = firstInTime(waiting, nowNanos);
    ExtendSlot asked = firstInTime(early, nowNanos);
    if (first == null && asked == null) {
      return tooLate.first();
    }
    boolean takesAsked =
        first == null || (asked != null && !earlyBegan && ExtendSlot.inOrder(asked, first) < 0);
    return requireNonNull(takesAsked ? asked : first);
  }

  private @Nullable ExtendSlot firstInTime(NavigableSet<ExtendSlot> slots, long nowNanos) {
    while (!slots.isEmpty() && slots.first().isTooLateFor(usualNanos, nowNanos)) {
      tooLate.add(requireNonNull(slots.pollFirst()));
    }
    return slots.isEmpty() ? null : slots.first();
  }

  private void begin(ExtendSlot slot, long nowNanos) {
    remove(slot);
    if (taken.isEmpty() && nowNanos - endedNanos > slot.timeoutNanos) {
      limiter.atMost(FIRST_LIMIT); // How fast the nodes are is no longer known.
    }
    earlyBegan = slot.isEarly();
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
      slot.state = ExtendSlot.State.FREE;
      limiter.gaveUp();
    }
  }
}
