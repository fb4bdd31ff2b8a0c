package dev.redlock.internal.protocol;

/** Which nodes the next request of a {@link Wait} goes to. */
enum Whom {
  /** See {@link Wait#nodeToQueueAt}. */
  ALL_UNLESS_OTHERS_WANT,
  /** The home node, for others want the lock. */
  HOME,
  /** The home node, which admits too early: see {@link Wait#afterToken}. */
  DOUBTED_HOME,
  /** All nodes, also if others want the lock. */
  ALL
}
