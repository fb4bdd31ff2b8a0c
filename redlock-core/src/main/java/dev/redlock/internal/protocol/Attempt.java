package dev.redlock.internal.protocol;

import org.jspecify.annotations.Nullable;

/**
 * One waiter's attempt to get the lock: its rounds, one at a time, and what they left on the nodes.
 * It alone knows which round came before which.
 *
 * <p>An attempt tries one lease id after another. A lease id is tried a second time with a second
 * token if the first token was the obstacle. The votes of two rounds are never added up: each round
 * has a token of its own, and a grant of an earlier token does not say that the node accepts the
 * later one. If a later round was sent to the same node, that round rolls back what the earlier one
 * left there.
 *
 * <p>It stays after its end, until the next begins: late votes are recorded in its newest round.
 */
final class Attempt {
  /** Null once it has the lock: the lease object that it was given must not be reachable here. */
  private @Nullable Waiter waiter;

  private @Nullable AcquireRound newest;
  private boolean underWay;
  private boolean secondTokenUsed;
  private boolean secondTryUsed;

  /** The newest votes of this attempt or an earlier one that may show a leftover key; or null. */
  private @Nullable AcquireRound lastVotes;

  /**
   * @param before the attempt before, whose votes may show a leftover key; or null
   */
  Attempt(Waiter waiter, @Nullable Attempt before) {
    this.waiter = waiter;
    lastVotes = before == null ? null : before.lastVotes;
  }

  Waiter waiter() {
    Waiter w = waiter;
    if (w == null) {
      throw new IllegalStateException("the waiter of this attempt has the lock");
    }
    return w;
  }

  boolean isFor(Waiter w) {
    return waiter == w;
  }

  void served() {
    waiter = null;
  }

  void begin(AcquireRound round) {
    AcquireRound before = newest;
    if (before != null && before.request.leaseId().equals(round.request.leaseId())) {
      round.follow(before);
    } else {
      secondTokenUsed = false;
    }
    newest = round;
    underWay = true;
    lastVotes = round;
    waiter().rounds++;
  }

  void end() {
    underWay = false;
  }

  /** The round under way, or null. */
  @Nullable AcquireRound round() {
    return underWay ? newest : null;
  }

  /** The newest round, also after its end; null before the first. */
  @Nullable AcquireRound newest() {
    return newest;
  }

  /** Whether a second token may be tried at once: only one, or two clients leap-frog. */
  boolean takesSecondToken() {
    boolean may = !secondTokenUsed;
    secondTokenUsed = true;
    return may;
  }

  /** Whether the waiter asks again after this refusal. A single try is repeated at most once. */
  boolean mayContinue(AcquireRound refused) {
    if (!waiter().singleTry) {
      return true;
    }
    if (refused.verdict() == AcquireVerdict.COLLIDED && !secondTryUsed) {
      secondTryUsed = true;
      return true;
    }
    return false;
  }

  /** Whether a quorum was free beside the home node: its key may be a leftover. True once. */
  boolean suspectsLeftoverAt(int home, int quorum) {
    AcquireRound r = lastVotes;
    if (r == null || r.freeBeside(home) < quorum || waiter().config.fair()) {
      return false;
    }
    lastVotes = null;
    return true;
  }

  /** The votes so far do not show leftover keys: they are those of a hand-off. */
  void forgetVotes() {
    lastVotes = null;
  }
}
