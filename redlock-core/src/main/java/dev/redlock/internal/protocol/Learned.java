package dev.redlock.internal.protocol;

/**
 * What this process has learned of the lock while it waited. It outlives a {@link Wait}.
 *
 * @param cause why the sleep ends, or why the last one ended: a hint may overtake its release
 * @param quorumFreeNanos when the keys of a quorum can have expired, as the newest refused round
 *     says
 * @param endedToken the highest token of a lease that had ended, when this process was admitted
 */
record Learned(WakeUp cause, long quorumFreeNanos, long endedToken) {
  static final Learned NOTHING = new Learned(WakeUp.PAUSE, 0, 0);

  Learned cause(WakeUp why) {
    return new Learned(why, quorumFreeNanos, endedToken);
  }

  Learned quorumFree(long nanos) {
    return new Learned(cause, nanos, endedToken);
  }

  Learned endedToken(long token) {
    return new Learned(cause, quorumFreeNanos, token);
  }
}
