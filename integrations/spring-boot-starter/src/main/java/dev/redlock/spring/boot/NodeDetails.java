package dev.redlock.spring.boot;

import dev.redlock.operations.NodeState;
import java.util.LinkedHashMap;
import java.util.Map;

/** The state of a node, for JSON. */
final class NodeDetails {
  private NodeDetails() {}

  static Map<String, Object> of(NodeState node) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("state", node.state().name());
    if (!node.remaining().isZero()) {
      details.put("remainingMillis", node.remaining().toMillis());
    }
    if (!node.cause().isEmpty()) {
      details.put("cause", node.cause());
    }
    if (node.pendingReleases() > 0) {
      details.put("pendingReleases", node.pendingReleases());
    }
    return details;
  }
}
