package dev.redlock.internal.protocol;

import dev.redlock.RedlockListener.WakeUp;
import dev.redlock.spi.LockKeys;
import org.jspecify.annotations.Nullable;

/**
 * What the head of the queue does when others want the lock too: sleep, wake at the right time, and
 * ask the right node.
 *
 * <p>The naive way is to sleep a random while and to ask everybody again. With many waiters that
 * costs hundreds of commands for each section, and those who ask at the same time split the votes
 * so that nobody wins. Instead a refused waiter sleeps until the nodes push that the lock may be
 * free, or until a quorum's keys can have expired, and then asks one node only: the {@link Door},
 * which is the same for everybody. Whoever is let in there puts the ordinary round, whose votes
 * alone count; the others have lost one command each, and go on sleeping.
 *
 * <p>All of it may be wrong and costs only time: the slow fallback poll asks all nodes whatever was
 * pushed, and a round never trusts what the door has said.
 */
final class Contention {
  /** After a push, waiters spread over this many round trips before they ask. */
  private static final int SPREAD_ROUND_TRIPS = 4;

  /** A door that admits while others hold has lost its key: then it is no good to ask it often. */
  private static final int MOST_IN_VAIN = 3;

  private static final long MOST_BACK_OFF_NANOS = 1_000_000_000;

  private static final long LEAST_REST_NANOS = 1_000_000;

  private final Nodes nodes;
  private final Randomness random;
  private final Door door;

  private boolean fair;
  private boolean waiting;
  private boolean hintsWake;
  private long wakeNanos;
  private WakeUp wakeCause = WakeUp.PAUSE;

  private boolean refusedBefore;
  private boolean allAtOnce;
  private boolean othersSeen;
  private boolean secondTokenUsed;
  private boolean secondTryUsed;
  private long pauseNanos;
  private int admittedInVain;
  private long pushed;
  private boolean pushedByDoor;
  private int askedDoor = -1;
  private @Nullable AcquireRound lastFull;
  private @Nullable AcquireRound previous;
  private long sentBefore;

  /** A guess from slow answers must not make anybody sleep for longer than an answer may take. */
  private long timeoutNanos = 100_000_000;

  private @Nullable AcquireRound current;

  Contention(Nodes nodes, LockKeys keys, Randomness random) {
    this.nodes = nodes;
    this.random = random;
    door = new Door(nodes, keys);
  }

  /** Nobody waits, or the next head begins afresh. */
  void reset() {
    waiting = false;
    hintsWake = false;
    refusedBefore = false;
    allAtOnce = false;
    secondTokenUsed = false;
    secondTryUsed = false;
    pauseNanos = 0;
    admittedInVain = 0;
    pushed = 0;
    pushedByDoor = false;
    lastFull = null;
    previous = null;
    current = null;
  }

  void granted() {
    AcquireRound won = lastFull; // It tells which nodes keep a leftover, until the next full round.
    reset();
    lastFull = won;
  }

  // When.

  boolean isTime(long now) {
    return !waiting || wakeNanos - now <= 0;
  }

  /** Ends the wait; says why, or null if there was none. */
  @Nullable WakeUp wake() {
    if (!waiting) {
      return null;
    }
    waiting = false;
    hintsWake = false;
    return wakeCause;
  }

  void deadlines(NextWake wake) {
    if (waiting) {
      wake.at(wakeNanos);
    }
  }

  private void waitUntil(long at, WakeUp cause, boolean hints) {
    waiting = true;
    wakeNanos = at;
    wakeCause = cause;
    hintsWake = hints;
  }

  /** Minimum hold: the key stays for a while, whoever asks. */
  void pauseUntil(long at) {
    waitUntil(at, WakeUp.PAUSE, false);
  }

  /**
   * Too much is under way: waits for about as long as a round takes, unless somebody who waits here
   * would be left without the time for two rounds after it.
   */
  boolean rests(Terms terms, WaitQueue queue, long now) {
    double rest = nodes.pace().rest();
    if (rest == 0) {
      return false;
    }
    long round = Math.max(LEAST_REST_NANOS, roundTrip());
    long at = now + (long) (rest * round * (0.5 + random.next()));
    if (at + 2 * terms.nodeTimeoutNanos() - queue.nearestDeadline() > 0) {
      return false;
    }
    waitUntil(at, waiting ? wakeCause : WakeUp.PAUSE, true);
    return true;
  }

  /** Long enough for all who were pushed to have asked, and for one of them to have won. */
  long stayBackFor() {
    return (long) ((SPREAD_ROUND_TRIPS + 3 + 2 * random.next()) * roundTrip());
  }

  /** How soon after its last lease a client is still the one that was served. */
  long rowGapNanos() {
    return 8 * roundTrip();
  }

  /** Others want it: the next question goes to the door first. */
  void expectOthers() {
    othersSeen = true;
    refusedBefore = true;
  }

  private void pause(long now, long first, long most) {
    pauseNanos = Math.min(most, pauseNanos == 0 ? first : 2 * pauseNanos);
    waitUntil(now + (long) (pauseNanos * (0.5 + random.next())), WakeUp.PAUSE, true);
  }

  // Whom.

  /** Whether the next question goes to the door first. */
  boolean throughDoor(boolean inLine) {
    boolean all = allAtOnce || nodes.count() == 1;
    allAtOnce = false;
    return !all && (refusedBefore || (inLine && othersSeen));
  }

  int door(boolean inLine) {
    return door.pick(inLine);
  }

  /** The door let us in: the round to all follows at once. */
  void admitted() {
    previous = current;
  }

  void asked(AcquireRound r) {
    AcquireRound c = current;
    boolean follows = c != null && c.request.leaseId().equals(r.request.leaseId());
    previous = follows ? c : null;
    long before = sentBefore;
    sentBefore = 0;
    if (c != null && follows) {
      sentBefore = before | c.sentMask();
      c.supersede(r.sentMask());
    }
    current = r;
    timeoutNanos = r.timeoutNanos;
    fair = r.fair;
    if (!r.knock) {
      lastFull = r;
    }
    pushed = 0;
    pushedByDoor = false;
    askedDoor = r.knock ? r.door() : door.pick(fair);
  }

  /** Nodes that an earlier question of the same attempt was sent to. */
  long sentBefore(AcquireRound r) {
    return r == current ? sentBefore : 0;
  }

  /** The door whose admission this round follows, or −1. */
  int admittedBy(AcquireRound r) {
    AcquireRound p = previous;
    return p != null && p != r && p.knock && p.request.leaseId().equals(r.request.leaseId())
        ? p.door()
        : -1;
  }

  /** Whether a second token may be tried at once: only one time, or two clients leap-frog. */
  boolean secondToken() {
    boolean may = !secondTokenUsed;
    secondTokenUsed = true;
    return may;
  }

  /** When the round is looked at again, whether or not answers come. */
  long roundDeadline(AcquireRound r) {
    if (r.fair && (r.knock || r.waitsForDoor())) {
      return r.deadlineNanos(); // Whoever is impatient with the line overtakes it.
    }
    if (r.knock || (r.sawHolder() && (!r.somebodyMayHold() || onlySilentAreOpen(r)))) {
      return r.startNanos + Math.min(r.timeoutNanos, patience(r));
    }
    return r.deadlineNanos() + 1;
  }

  /**
   * Somebody refuses, and all that have not answered let a whole node timeout pass before: they
   * will not make up for it now. Without this each collision costs a node timeout while any node
   * hangs.
   */
  boolean waitsInVain(AcquireRound r, long now) {
    return !r.knock
        && now - r.startNanos >= Math.min(r.timeoutNanos, patience(r))
        && r.sawHolder()
        && onlySilentAreOpen(r);
  }

  private boolean onlySilentAreOpen(AcquireRound r) {
    boolean any = false;
    for (int i = 0; i < nodes.count(); i++) {
      if (r.isOpen(i)) {
        if (!nodes.knowledge(i).silent()) {
          return false;
        }
        any = true;
      }
    }
    return any;
  }

  /** Nobody has a quorum, and who has not answered takes longer than usual. */
  boolean isSplit(AcquireRound r, long now) {
    return !r.knock
        && now - r.startNanos >= Math.min(r.timeoutNanos, patience(r))
        && r.sawHolder()
        && !r.somebodyMayHold();
  }

  private long patience(AcquireRound r) {
    long most = 0;
    for (int i = 0; i < nodes.count(); i++) {
      if (r.isOpen(i)) {
        most = Math.max(most, nodes.knowledge(i).patience());
      }
    }
    return most == 0 ? r.timeoutNanos : most;
  }

  // What comes of it.

  /**
   * The question was refused: decides when to ask again.
   *
   * @return false if this caller tried for the last time
   */
  boolean refused(AcquireRound r, Terms terms, boolean once, long now) {
    boolean collided = r.verdict() == AcquireRound.Verdict.COLLIDED;
    boolean knockFailed = r.knock && r.verdict() != AcquireRound.Verdict.HELD;
    if (once) {
      if (knockFailed || (collided && !secondTryUsed)) {
        secondTryUsed = true;
      } else {
        return false;
      }
    }
    secondTokenUsed = false;
    if (r.knock) {
      knockRefused(r, terms, now);
      return true;
    }
    switch (r.verdict()) {
      case HELD -> {
        refusedBefore = true;
        othersSeen = true;
        if (admittedBy(r) >= 0 && ++admittedInVain <= MOST_IN_VAIN) {
          // The door is free before the others: the holder's release is still on its way to them.
          pause(now, 2 * roundTrip(), terms.nodeTimeoutNanos());
        } else {
          pauseNanos = 0;
          sleep(r, terms, now);
        }
      }
      case COLLIDED -> {
        refusedBefore = true;
        othersSeen = true;
        pause(now, 2 * roundTrip(), terms.nodeTimeoutNanos());
      }
      default -> {
        // Not a matter of who comes first: ask all again, less and less often.
        allAtOnce = true;
        pause(now, terms.nodeTimeoutNanos() / 2, MOST_BACK_OFF_NANOS);
      }
    }
    return true;
  }

  private void knockRefused(AcquireRound r, Terms terms, long now) {
    admittedInVain = 0;
    if (r.verdict() == AcquireRound.Verdict.UNAVAILABLE) {
      // The door is hung or gone: the next in order. It is passed over until it is heard again, or
      // a node that errs at once would be asked for ever.
      NodeKnowledge known = nodes.knowledge(r.door());
      if (r.fair || !r.isOpen(r.door())) {
        known.failed();
      } else {
        known.overdue();
      }
      return;
    }
    if (r.verdict() != AcquireRound.Verdict.HELD) {
      allAtOnce = true; // It cannot take our token, or was too slow: ask all.
      return;
    }
    AcquireRound full = lastFull;
    int knocked = r.door();
    if (full != null && full.freeBeside(knocked) >= Quorum.of(nodes.count()) && !terms.fair()) {
      allAtOnce = true; // All but the door were free: it may hold nothing but a leftover.
      lastFull = null;
      pause(now, 2 * roundTrip(), terms.nodeTimeoutNanos());
      return;
    }
    sleep(r, terms, now);
  }

  /** Until a hint, the time at which a quorum can be free, or the fallback poll. */
  private void sleep(AcquireRound r, Terms terms, long now) {
    long free = r.quorumFreeNanos(now) + spread();
    long poll = Math.min(terms.pollNanos(), terms.ttlNanos() / 3);
    if (terms.fair()) {
      poll = Math.min(poll, terms.lineTimeoutMillis() * 1_000_000L / 3); // Keep our place in line.
    }
    long pollAt = now + (long) (poll * (0.5 + random.next()));
    boolean expiry = free - pollAt < 0;
    waitUntil(expiry ? free : pollAt, expiry ? WakeUp.EXPIRY : WakeUp.POLL, true);
    allAtOnce = !expiry && !terms.fair();
    if (pushedByDoor) {
      hintedByDoor(now); // It came between the question and now.
    } else {
      hintedByOthers(now);
    }
  }

  /** A node, or (−1) another carrier, says that the lock may be free. */
  void onHint(int node, @Nullable AcquireRound asking, long now) {
    if (node >= 0 && asking != null && asking.isOpen(node)) {
      return; // Our question is executed after whatever was pushed.
    }
    // The one that was asked, too: it is armed, whatever is thought of it meanwhile.
    boolean byDoor = node < 0 || node == askedDoor || node == door.pick(fair);
    if (byDoor) {
      pushedByDoor = true;
    } else {
      pushed |= 1L << node;
    }
    if (!waiting || !hintsWake) {
      return;
    }
    if (byDoor) {
      hintedByDoor(now);
    } else {
      hintedByOthers(now);
    }
  }

  private void hintedByDoor(long now) {
    long at = now + spread();
    if (at - wakeNanos < 0) {
      waitUntil(at, WakeUp.HINT, true);
      allAtOnce = false;
    }
  }

  /** A quorum of others has pushed: counts when the door has still not some latencies later. */
  private void hintedByOthers(long now) {
    if (Long.bitCount(pushed) < Quorum.of(nodes.count())) {
      return;
    }
    int d = door.pick(fair);
    long late = d < 0 ? 3 * roundTrip() : Math.min(timeoutNanos, nodes.knowledge(d).patience());
    long at = now + late + spread();
    if (at - wakeNanos < 0) {
      waitUntil(at, WakeUp.HINT, true);
      allAtOnce = true;
    }
  }

  private long spread() {
    return (long) (SPREAD_ROUND_TRIPS * random.next() * roundTrip());
  }

  /** The usual time of a round: the slowest of the fastest quorum decides it. */
  private long roundTrip() {
    int n = nodes.count();
    long[] latency = new long[n];
    for (int i = 0; i < n; i++) {
      latency[i] = nodes.knowledge(i).latencyNanos();
    }
    java.util.Arrays.sort(latency);
    return Math.min(timeoutNanos, latency[Quorum.of(n) - 1]);
  }
}
