package dev.redlock.it.failures;

import dev.redlock.harness.ForwardingLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A node whose client does not see the record of the set, or not its identity: for the controls of
 * {@code --nemesis replace}. Two such clients can hold one lock.
 */
final class BlindNode extends ForwardingLockNode {
  private final LockNode node;
  private final UnaryOperator<@Nullable NodeRecord> seen;

  private BlindNode(LockNode node, UnaryOperator<@Nullable NodeRecord> seen) {
    super(node);
    this.node = node;
    this.seen = seen;
  }

  /** These nodes, or blind ones if a property of this JVM demands it. */
  static LockNode[] asConfigured(List<LockNode> nodes) {
    UnaryOperator<@Nullable NodeRecord> seen =
        Boolean.getBoolean(Worker.IGNORE_RECORDS)
            ? record -> null
            : Boolean.getBoolean(Worker.IGNORE_IDENTITIES) ? BlindNode::ofAny : null;
    return nodes.stream()
        .map(node -> seen == null ? node : new BlindNode(node, seen))
        .toArray(LockNode[]::new);
  }

  private static @Nullable NodeRecord ofAny(@Nullable NodeRecord r) {
    return r == null || r.id().isEmpty()
        ? r
        : new NodeRecord(
            "any",
            r.name(),
            r.epoch(),
            r.members(),
            r.before(),
            r.floor(),
            r.ballot(),
            r.promised(),
            r.maxLeaseMillis(),
            r.maxLeaseBefore(),
            r.sinceMicros());
  }

  @Override
  public NodeStatus status() {
    NodeStatus status = node.status();
    return status.record() == null ? status : status.with(seen.apply(status.record()));
  }

  @Override
  public Optional<LockNode> sibling(String name) {
    return node.sibling(name).map(sibling -> new BlindNode(sibling, seen));
  }
}
