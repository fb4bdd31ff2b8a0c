package dev.redlock.it;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.NodeConnection;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.lettuce.internal.scripts.Wire;
import dev.redlock.lettuce.internal.scripts.Wires;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * A node of a client that speaks two versions of keys and scripts. The second one exists in tests
 * only: it writes a fourth field into each new fence.
 */
final class SecondVersion implements LockNode {
  static final String FIELD = ":second";

  static final Wire WIRE =
      new Wire(
          2,
          text ->
              text.replace("':1:", "':2:")
                  .replace("token .. ':0:0'", "token .. ':0:0" + FIELD + "'"));

  private final NodeConnection connection;

  SecondVersion(String uri) {
    connection =
        new NodeConnection(
            this,
            NodeUri.parse(uri),
            LettuceOptions.defaults(),
            new SharedResources(null),
            false,
            new Wires(List.of(Wire.FIRST, WIRE)));
  }

  /** Switches the node, as an operator would. */
  CompletionStage<Boolean> switchTo(Wire wire) {
    return connection.switchWire(wire);
  }

  @Override
  public String name() {
    return connection.name();
  }

  @Override
  public void start(LockNode.Context context) {
    connection.start(context);
  }

  @Override
  public NodeStatus status() {
    return connection.status();
  }

  @Override
  public void send(LockRequest request, Consumer<NodeReply> handler) {
    connection.send(request, handler);
  }

  @Override
  public boolean notifiesWaiters() {
    return connection.tracks();
  }

  @Override
  public CompletionStage<NodeRecord> change(NodeRecord.Change change) {
    return connection.change(change);
  }

  @Override
  public void close() {
    connection.close();
  }

  @Override
  public boolean isEnded() {
    return connection.isEnded();
  }
}
