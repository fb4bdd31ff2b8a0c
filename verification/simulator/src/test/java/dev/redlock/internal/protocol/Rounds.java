package dev.redlock.internal.protocol;

import java.util.List;

/** What the package hides of a round to the simulator. */
public final class Rounds {
  private Rounds() {}

  /** The names of those of which a quorum decides; none if the nodes keep no record. */
  public static List<String> members(Exchange round) {
    return round.members.names();
  }
}
