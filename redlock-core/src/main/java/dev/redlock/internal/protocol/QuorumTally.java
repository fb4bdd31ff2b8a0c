package dev.redlock.internal.protocol;

/**
 * How the votes of one round stand at one moment. A vote that was good when it came may have lost
 * its worth since, because its connection broke. A round therefore counts anew whenever it judges,
 * and latches only its first verdict. If it did not, a lock that was refused as held could turn
 * into one that was unavailable when a further vote comes.
 */
final class QuorumTally {
  private final int voters;

  int granted;
  int held;
  int stale;

  /** Nodes whose vote counts for neither side: they failed, timed out, or were not asked. */
  int silent;

  /** Nodes whose vote may still come. */
  int open;

  QuorumTally(int voters) {
    this.voters = voters;
  }

  int quorum() {
    return Quorum.of(voters);
  }

  boolean isWon() {
    return granted >= quorum();
  }

  boolean mayBeWon() {
    return granted + open >= quorum();
  }

  /** Whether this many votes suffice to put a quorum out of reach. */
  boolean isBlockedBy(int votes) {
    return votes >= Quorum.blocking(voters);
  }
}
