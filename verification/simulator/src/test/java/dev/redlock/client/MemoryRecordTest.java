package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.harness.ForwardingLockNode;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The record of the node set that an in-memory node keeps. */
class MemoryRecordTest {
  private static final NodeRecord FIRST =
      NodeRecord.first("d1", List.of("a", "b", "c"), 30_000).of("a");
  private static final NodeRecord.Change TELL =
      new NodeRecord.Change(NodeRecord.Change.Kind.TELL, FIRST);

  private final VirtualTime time = new VirtualTime();
  private final List<NodeStatus> statuses = new ArrayList<>();
  private final InMemoryLockNode one = InMemoryLockNode.create("a");
  private final InMemoryLockNode two = one.another();

  private void start(LockNode node) {
    node.start(
        new LockNode.Context(
            Duration.ofSeconds(30), RestartGuard.OFF, "redlock", "", false, time, new Statuses()));
    time.pass(Duration.ofMillis(100));
  }

  private NodeRecord change(LockNode node, NodeRecord.Change change) {
    CompletableFuture<NodeRecord> stage = node.change(change).toCompletableFuture();
    time.pass(Duration.ofMillis(1));
    return stage.join();
  }

  @Test
  void change_isPublishedBeforeTheStageCompletes_andReachesOtherClientsBeforeLaterReplies() {
    start(one);
    start(two);
    assertThat(one.status().record()).isEqualTo(NodeRecord.NONE);
    long ownNumber = one.status().connection();
    long otherNumber = two.status().connection();
    List<Object> events = new ArrayList<>();
    var unused =
        one.change(TELL)
            .thenAccept(stored -> events.add(List.of(stored.epoch(), one.status().connection())));
    two.send(
        new LockRequest.Inspect(LockKeys.of("redlock", List.of("x")), true),
        reply -> {
          assertThat(reply.connection()).isEqualTo(two.status().connection());
          assertThat(two.status().record()).isEqualTo(one.status().record());
          events.add("reply");
        });
    time.pass(Duration.ofMillis(1));
    assertThat(events).containsExactlyInAnyOrder(List.of(1L, ownNumber + 1), "reply");
    assertThat(two.status().connection()).isGreaterThan(otherNumber);
    assertThat(statuses).anyMatch(status -> status.record().exists());
    assertThat(change(two, TELL)).isEqualTo(one.status().record());
    assertThat(one.status().connection()).as("nothing changed").isEqualTo(ownNumber + 1);
  }

  @Test
  void record_outlivesARestartWithKeys_butNotARestartWithout_andNoFlush() {
    start(one);
    NodeRecord stored = change(one, TELL);
    one.restart();
    time.pass(Duration.ofMillis(100));
    assertThat(one.status().record()).isEqualTo(stored);
    one.restartEmpty();
    assertThat(one.status().record()).isEqualTo(NodeRecord.NONE);
    time.pass(Duration.ofMillis(100));
    assertThat(one.status().record()).isEqualTo(NodeRecord.NONE);
    assertThat(change(one, TELL).exists()).isTrue();
    one.flush();
    time.pass(Duration.ofMillis(100));
    assertThat(one.status().record()).isEqualTo(NodeRecord.NONE);
    assertThat(one.status().state()).isEqualTo(NodeStatus.State.VOTING);
  }

  @Test
  void changeOfANodeThatIsDown_orGoesDown_fails() {
    assertThatThrownBy(() -> one.change(TELL).toCompletableFuture().join())
        .hasMessageContaining("not started");
    start(one);
    one.hang();
    CompletableFuture<NodeRecord> lost = one.change(TELL).toCompletableFuture();
    time.pass(Duration.ofMillis(1));
    assertThat(lost).isNotDone();
    one.kill();
    time.pass(Duration.ofMillis(1));
    assertThatThrownBy(lost::join).hasMessageContaining("server killed");
  }

  @Test
  void sibling_isAServerThatTheTestMadeReachable() {
    InMemoryLockNode other = InMemoryLockNode.create("d");
    assertThat(one.sibling("d")).isEmpty();
    one.reach(other);
    LockNode found = two.sibling("d").orElseThrow();
    assertThat(found.name()).isEqualTo("d");
    assertThat(found).isNotSameAs(other);
    start(found);
    start(other);
    assertThat(change(found, TELL)).isEqualTo(other.status().record());
    assertThat(other.sibling("a").orElseThrow().name()).isEqualTo("a");
    assertThat(new ForwardingLockNode(one) {}.sibling("d")).isPresent();
  }

  private final class Statuses implements LockNode.Listener {
    @Override
    public void onStatus(LockNode node) {
      statuses.add(node.status());
    }

    @Override
    public void onInvalidated(LockNode node, String key) {}

    @Override
    public void onAllInvalidated(LockNode node) {}
  }
}
