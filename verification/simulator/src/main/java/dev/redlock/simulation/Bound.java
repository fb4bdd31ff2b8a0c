package dev.redlock.simulation;

import java.util.Locale;

/** The bounds on cost and waiting; {@link LockCost} and {@link WaitRule} derive their values. */
enum Bound {
  /** Rounds of one lock that ask all nodes, between two answers to its callers. */
  ROUNDS("cost"),
  /** Rounds to which no node replied, between two answers to callers. */
  UNANSWERED("cost"),
  /** Requests to be queued, between two answers to callers. */
  QUESTIONS("cost"),
  /** Requests to keep a place or to listen to another node, between two answers to callers. */
  PLACES("cost"),
  /** Repeats of releases that failed on one node, since it confirmed one. */
  REPEATS("cost"),
  /** Extensions of one grant on one node. */
  EXTENSIONS("cost"),
  /** Leases that one client lost although the nodes could have extended them in time. */
  LOST("lost"),
  /** For how many microseconds the lock is free although a caller waits. */
  FREE("starvation");

  final String rule;

  Bound(String rule) {
    this.rule = rule;
  }

  @Override
  public String toString() {
    return rule + ": " + name().toLowerCase(Locale.ROOT);
  }
}
