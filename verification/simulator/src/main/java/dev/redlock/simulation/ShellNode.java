package dev.redlock.simulation;

import dev.redlock.internal.SimulatedClient;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A node of a client as it ships, over a simulated link. */
final class ShellNode implements LockNode {
  private static final NodeStatus CLOSED =
      new NodeStatus(NodeStatus.State.CONNECTING, 1, 0, 0, "closed");

  final SimLink link;
  private final ShellClient client;
  LockNode.Listener listener;

  /** What its server said of itself last; stays null in worlds in which each name has a server. */
  @Nullable NodeIdentity identity;

  /** How many callers wait for these names, as the client said. */
  private final Map<LockKeys, Integer> waiting = new HashMap<>();

  ShellNode(ShellClient client, SimLink link) {
    this.client = client;
    this.link = link;
  }

  @Override
  public String name() {
    return link.node.name;
  }

  @Override
  public void start(LockNode.Context context) {
    listener = context.listener();
    if (isReplaced()) {
      if (!link.isShut()) {
        client.world.failed(new Violation("sibling", name() + " has two nodes at once"));
      }
      client.nodes[link.node.index] = this;
      client.soon(link::open);
    }
  }

  /** After its close the client may make another node for the same server, with the same link. */
  private boolean isReplaced() {
    return client.nodes[link.node.index] != this;
  }

  @Override
  public NodeStatus status() {
    return isReplaced() ? CLOSED : link.status();
  }

  @Override
  public Optional<NodeIdentity> identity() {
    return Optional.ofNullable(identity);
  }

  @Override
  public void send(LockRequest request, Consumer<NodeReply> handler) {
    if (!client.alive) {
      return;
    }
    client.stall();
    if (!client.alive) {
      return;
    }
    if (isReplaced()) {
      NodeError error = new NodeError(NodeError.Kind.CLOSED, "closed", true);
      client.soon(() -> handler.accept(NodeReply.failed(CLOSED.connection(), error)));
      return;
    }
    World world = client.world;
    if (!(request instanceof LockRequest.Release) && client.throwsNow()) {
      throw new ShellClient.Thrown();
    }
    ShellLock lock = (ShellLock) SimulatedClient.observer(handler);
    if (world.tracing) {
      world.row(client.name(), "→ " + name() + " " + Describe.request(request));
    }
    try {
      link.send(
          lock,
          (exchange, node, asked, reply) -> {
            if (lock == null) {
              client.answered(node, asked, reply);
            }
            handler.accept(reply);
          },
          SimulatedClient.exchange(handler),
          request);
    } catch (Violation e) {
      world.failed(e);
    }
  }

  @Override
  public CompletionStage<NodeRecord> change(NodeRecord.Change change) {
    CompletableFuture<NodeRecord> result = new CompletableFuture<>();
    if (isReplaced()) {
      result.completeExceptionally(new IllegalStateException(name() + " is closed"));
    } else if (client.alive) {
      if (client.world.tracing) {
        client.world.row(client.name(), "→ " + name() + " " + change);
      }
      client.requireChanges(name());
      link.change(change, result);
    }
    return result;
  }

  @Override
  public Optional<LockNode> sibling(String name) {
    for (SimLink other : client.links) {
      if (other.node.name.equals(name)) {
        return Optional.of(new ShellNode(client, other));
      }
    }
    return Optional.empty();
  }

  @Override
  public void waiting(LockKeys keys) {
    waiting.merge(keys, 1, Integer::sum);
    if (client.throwsNow()) {
      throw new ShellClient.Thrown();
    }
  }

  @Override
  public void idle(LockKeys keys) {
    if (waiting.merge(keys, -1, Integer::sum) < 0) {
      client.world.failed(new Violation("waiting", name() + " is told twice that none waits"));
    }
    waiting.remove(keys, 0);
  }

  /** Whether the node was told of callers that it was not told to have stopped. */
  boolean isWaitedFor() {
    return !waiting.isEmpty();
  }

  @Override
  public boolean notifiesWaiters() {
    return true;
  }

  @Override
  public void close() {
    if (!isReplaced()) {
      link.shut();
    }
  }
}
