package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.NodeRecord;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * UP if all nodes vote, {@link #DEGRADED} if a quorum votes, DOWN otherwise. Has the state of each
 * node. Sends nothing.
 */
public final class RedlockHealthIndicator extends AbstractHealthIndicator {
  /** A quorum of nodes votes, and the others do not. Locks are granted. */
  public static final Status DEGRADED = new Status("DEGRADED", "a minority of nodes does not vote");

  private final Redlock redlock;

  RedlockHealthIndicator(Redlock redlock) {
    super("the state of the nodes cannot be read");
    this.redlock = redlock;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    List<NodeState> nodes = redlock.operations().nodes();
    long voting = nodes.stream().filter(node -> node.state() == NodeState.State.VOTING).count();
    int members = NodeState.members(nodes).size();
    int quorum = members / 2 + 1;
    if (voting == members) {
      health.up();
    } else if (voting >= quorum) {
      health.status(DEGRADED);
    } else {
      health.down();
    }
    health.withDetail("voting", voting).withDetail("quorum", quorum);
    NodeRecord record = NodeState.newestRecord(nodes);
    if (record != null) {
      health.withDetail("epoch", record.epoch());
    }
    Map<String, Object> details = new LinkedHashMap<>();
    nodes.forEach(node -> details.put(node.node(), NodeDetails.of(node)));
    health.withDetail("nodes", details);
  }
}
