package dev.redlock.internal.protocol;

import dev.redlock.spi.NodeRecord;
import java.util.List;

/** What the package hides of a round to the simulator. */
public final class Rounds {
  private Rounds() {}

  /** The names of those of which a quorum decides; none if the nodes keep no record. */
  public static List<String> members(Exchange round) {
    return round.members.names();
  }

  /** Whether a vote of a node with this record counts: the rule once more, in other words. */
  public static boolean isAdmitted(Exchange round, NodeRecord record) {
    long epoch = round.members.epoch();
    List<String> set = epoch == record.epoch() ? record.members() : record.before();
    return record.epoch() > 0
        && record.id().equals(round.members.id())
        && record.floor() <= epoch
        && epoch <= record.epoch()
        && set.equals(members(round));
  }
}
