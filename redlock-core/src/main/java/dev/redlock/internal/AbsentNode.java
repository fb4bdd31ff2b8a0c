package dev.redlock.internal;

import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.function.Consumer;

/** A member to which this client cannot connect, because it was given nodes and no URIs. */
record AbsentNode(String name) implements LockNode {
  private static final String CAUSE =
      "it is a member of the set, and this client was not given this node";

  private static final NodeStatus STATUS =
      new NodeStatus(NodeStatus.State.CONNECTING, 1, 0, 0, CAUSE, false, NodeRecord.NONE);

  @Override
  public void start(LockNode.Context context) {}

  @Override
  public NodeStatus status() {
    return STATUS;
  }

  @Override
  public void send(LockRequest request, Consumer<NodeReply> handler) {
    NodeError error = new NodeError(NodeError.Kind.DISCONNECTED, CAUSE, true);
    handler.accept(NodeReply.failed(STATUS.connection(), error));
  }

  @Override
  public void close() {}
}
