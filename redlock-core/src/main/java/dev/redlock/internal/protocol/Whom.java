package dev.redlock.internal.protocol;

/** Which nodes the next request of a {@link Wait} goes to. */
enum Whom {
  ALL_UNLESS_OTHERS_WANT,
  /** The home node, for others want the lock. */
  HOME,
  /** It admits too early. Until it knows of a later lease that ended, the lock counts as held. */
  DOUBTED_HOME,
  ALL
}
