package dev.redlock.bench.jmh;

import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.util.function.Consumer;

/** A node that grants within the call of send, so that only the cost of the library remains. */
final class InstantNode implements LockNode {
  private final String name;
  private final NodeStatus status = new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "");

  InstantNode(String name) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void start(LockNode.Context context) {
    // It votes from the start.
  }

  @Override
  public NodeStatus status() {
    return status;
  }

  @Override
  public void send(LockRequest request, Consumer<NodeReply> handler) {
    handler.accept(answer(request));
  }

  static NodeReply answer(LockRequest request) {
    long micros = System.currentTimeMillis() * 1000;
    if (request instanceof LockRequest.Acquire acquire) {
      return NodeReply.of(Code.GRANTED, 1, micros, acquire.token());
    } else if (request instanceof LockRequest.Release release) {
      return NodeReply.of(Code.RELEASED, 1, micros, release.token());
    }
    return NodeReply.of(Code.EXTENDED, 1, micros, 1);
  }

  @Override
  public void close() {
    // There is no connection to close.
  }
}
