package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.internal.IndependenceCheckTest.Named;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.slf4j.helpers.NOPLogger;

class NodeSetTest {
  private final FailureLog failures = new FailureLog(NOPLogger.NOP_LOGGER);
  private final NodeSet nodes =
      new NodeSet(List.of(new Named("a"), new Named("b")), failures, NOPLogger.NOP_LOGGER);

  @Test
  void pendingReleases_overAllNodes_areTooManyBeyondTheLimit() {
    nodes.releasesPending(0, NodeSet.PENDING_LIMIT - 1);
    nodes.releasesPending(1, 1);
    assertThat(nodes.tooManyReleasesPending()).as("at the limit").isFalse();
    nodes.releasesPending(1, 1);
    assertThat(nodes.tooManyReleasesPending()).as("beyond it").isTrue();
    nodes.releasesPending(0, -1);
    assertThat(nodes.tooManyReleasesPending()).as("at the limit again").isFalse();
    assertThat(nodes.releasesPending(0)).isEqualTo(NodeSet.PENDING_LIMIT - 2);
    assertThat(nodes.releasesPending(1)).isEqualTo(2);
  }

  /** Seed 1 of SHELL_SETS: a node that was added later was told that none waits any more. */
  @Test
  void waiting_nodeIsAddedMeanwhile_isToldAsOftenAsTheOthers() {
    LockKeys keys = LockKeys.of("redlock", List.of("a"));
    List<String> told = new ArrayList<>();
    NodeSet set = new NodeSet(List.of(new Told("a", told)), failures, NOPLogger.NOP_LOGGER);
    set.waiting(keys, 0, set.count());
    set.add(new Told("b", told), "b");
    set.waiting(keys, 1, set.count());
    set.waiting(keys, 2, 0);
    assertThat(told).containsExactly("a waits", "b waits", "a is idle", "b is idle");
  }

  private record Told(String name, List<String> told) implements LockNode {
    @Override
    public void start(LockNode.Context context) {}

    @Override
    public NodeStatus status() {
      return new Named(name).status();
    }

    @Override
    public void send(LockRequest request, Consumer<NodeReply> handler) {}

    @Override
    public void close() {}

    @Override
    public void waiting(LockKeys keys) {
      told.add(name() + " waits");
    }

    @Override
    public void idle(LockKeys keys) {
      told.add(name() + " is idle");
    }
  }
}
