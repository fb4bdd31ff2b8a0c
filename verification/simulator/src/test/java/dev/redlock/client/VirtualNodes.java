package dev.redlock.client;

import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** In-memory nodes a fifth of a millisecond away, and clients of them, in virtual time. */
public final class VirtualNodes implements AutoCloseable {
  public static final Duration ROUND_TRIP = Duration.ofNanos(200_000);

  private final VirtualTime time = new VirtualTime();
  private final List<InMemoryLockNode> nodes = new ArrayList<>();
  private final List<Redlock> clients = new ArrayList<>();

  public VirtualNodes(int count) {
    for (int i = 0; i < count; i++) {
      InMemoryLockNode node = InMemoryLockNode.create("node-" + i);
      node.delay(ROUND_TRIP);
      nodes.add(node);
    }
  }

  public VirtualTime time() {
    return time;
  }

  public InMemoryLockNode node(int index) {
    return nodes.get(index);
  }

  /** How many nodes store a lock of that name. */
  public long holding(String name) {
    return nodes.stream().filter(node -> node.holder(name) != null).count();
  }

  /** A client whose nodes vote. Callbacks run on the thread of the event. */
  public Redlock client(RedlockListener... listeners) {
    var builder =
        Redlock.builder()
            .nodes(nodes.stream().map(InMemoryLockNode::another).toArray(LockNode[]::new))
            .restartGuard(RestartGuard.OFF)
            .callbackExecutor(Runnable::run)
            .time(time);
    for (RedlockListener listener : listeners) {
      builder.listener(listener);
    }
    Redlock client = builder.build();
    clients.add(client);
    time.passUntil(
        () ->
            client.operations().nodes().stream().allMatch(n -> n.state() == NodeState.State.VOTING),
        Duration.ofSeconds(1));
    return client;
  }

  @Override
  public void close() {
    time.pass(Duration.ofMinutes(1));
    time.runAway(); // A failed test leaves leases, and no thread moves the clock in close().
    clients.forEach(Redlock::close);
  }
}
