package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A user's node that throws, although nodes must not throw. */
class ThrowingNodeTest {

  private record Throwing() implements LockNode {
    @Override
    public String name() {
      return "throwing";
    }

    @Override
    public void start(LockNode.Context context) {
      // The node reports that it votes already.
    }

    @Override
    public NodeStatus status() {
      return new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "");
    }

    @Override
    public void send(LockRequest request, Consumer<NodeReply> handler) {
      throw new IllegalStateException("not today");
    }

    @Override
    public void close() {}
  }

  /** A node whose methods all throw. */
  private record Unaskable(LockNode node) implements LockNode {
    @Override
    public String name() {
      return node.name();
    }

    @Override
    public void start(LockNode.Context context) {}

    @Override
    public NodeStatus status() {
      throw new IllegalStateException("no status");
    }

    @Override
    public Optional<NodeIdentity> identity() {
      throw new AssertionError("no identity");
    }

    @Override
    public void send(LockRequest request, Consumer<NodeReply> handler) {}

    @Override
    public void close() {}
  }

  @Test
  @Timeout(30)
  void readyAndDoctor_aNodeCannotBeAsked_tellOfTheOthers() throws Exception {
    LockNode[] nodes = {
      new Unaskable(InMemoryLockNode.create("a")),
      InMemoryLockNode.create("b"),
      InMemoryLockNode.create("c")
    };
    try (Redlock redlock = Redlock.builder().nodes(nodes).restartGuard(RestartGuard.OFF).build()) {
      assertThat(redlock.awaitReady(Duration.ofSeconds(10))).isTrue();
      assertThat(
              redlock
                  .operations()
                  .doctor()
                  .toCompletableFuture()
                  .get(10, TimeUnit.SECONDS)
                  .nodes()
                  .get(0)
                  .complaints())
          .isNotEmpty();
    }
  }

  @Test
  @Timeout(30)
  void node_thatThrows_isAnotherSilentOne() throws Exception {
    LockNode[] nodes = {InMemoryLockNode.create("a"), new Throwing(), InMemoryLockNode.create("c")};
    try (Redlock redlock = Redlock.builder().nodes(nodes).restartGuard(RestartGuard.OFF).build()) {
      try (Lease lease = redlock.lock("x").acquire(Duration.ofSeconds(10))) {
        assertThat(lease.isValid()).isTrue();
      }
      try (Lease again = redlock.lock("x").acquire(Duration.ofSeconds(10))) {
        assertThat(again.isValid()).isTrue();
      }
    }
  }
}
