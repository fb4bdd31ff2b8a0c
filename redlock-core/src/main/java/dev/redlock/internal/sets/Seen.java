package dev.redlock.internal.sets;

import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;

/**
 * One node, as this client sees it.
 *
 * @param name the name with which this client was configured, or that a record gave it
 * @param status its own status
 * @param server what all clients call the server, whatever its address; empty if unknown. It
 *     matters while no node has a record
 */
public record Seen(String name, NodeStatus status, String server) {
  public boolean keepsRecord() {
    return status.record() != null;
  }

  public NodeRecord record() {
    NodeRecord record = status.record();
    return record == null ? NodeRecord.NONE : record;
  }

  public boolean says() {
    return status.usable() && record().exists();
  }

  /** Whether it has no record of a set: at most a proposal. */
  public boolean isEmpty() {
    return status.usable() && keepsRecord() && record().epoch() == 0;
  }

  /** Whether it is kept out until its server changes, for example because it is a replica. */
  public boolean isRefused() {
    return status.state() == NodeStatus.State.QUARANTINED && status.untilNanos() == 0;
  }

  /** Whether it knows less than the newest record. */
  public boolean isBehind(NodeRecord newest) {
    NodeRecord stored = record();
    return stored.epoch() < newest.epoch()
        || (stored.epoch() == newest.epoch() && !stored.isSealed());
  }

  /** Its name in the set: its own record decides. */
  public String alias() {
    return record().name().isEmpty() ? name : record().name();
  }
}
