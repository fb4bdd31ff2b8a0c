package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A missing reply does not mean "no": the client undoes every request that a node may have granted.
 */
@RedisTest(nodes = 5, gated = true)
class LostReplyIT extends OneClient {

  LostReplyIT(RedisNodes nodes) {
    super(nodes, Clients::start);
  }

  @Test
  void acquire_repliesLostAfterTheGrant_leavesNoKeyAfterTheGateOpens() {
    for (int i = 0; i < 3; i++) {
      nodes.get(i).gate().dropReplies();
    }
    assertThatThrownBy(() -> redlock.lock("lost-reply").tryAcquire())
        .isInstanceOf(QuorumUnavailableException.class);
    for (RedisNode node : nodes) {
      node.gate().endFaults();
    }
    Clients.gone(nodes, "lost-reply");
    // The request did arrive: the fence contains the token.
    Eventually.holds(
        () -> nodes.get(0).key(Clients.lockKey("lost-reply") + ":fence").isPresent(), nodes);
  }

  @Test
  void acquire_callerGaveUpWhileNodesWerePaused_isNeverExecutedLaterAsAGrantThatStays() {
    for (RedisNode node : nodes) {
      node.pause();
    }
    LockOptions patient = LockOptions.builder().build();
    for (int i = 0; i < 20; i++) {
      String name = "ghost-" + i;
      assertThatThrownBy(() -> redlock.lock(name, patient).tryAcquire())
          .isInstanceOf(QuorumUnavailableException.class);
    }
    for (RedisNode node : nodes) {
      node.resume();
    }
    for (RedisNode node : nodes) {
      Eventually.holds(() -> node.keys().stream().noneMatch(k -> isLockKey(k.name())), nodes);
    }
  }

  @Tag("thorough")
  @Test
  void acquire_connectionsResetInFlight_leavesNoKey() {
    for (int round = 0; round < 30; round++) {
      String name = "reset-" + round;
      var pending = redlock.lock(name).tryAcquireAsync();
      nodes.get(round % 5).gate().resetConnections();
      nodes.get((round + 1) % 5).gate().resetConnections();
      nodes.get((round + 2) % 5).gate().resetConnections();
      var done = pending.handle((lease, failure) -> lease);
      Eventually.holds(done::isDone, nodes);
      var lease = done.join();
      if (lease != null) {
        lease.ifPresent(l -> l.close());
      }
      Clients.voting(redlock, 5);
    }
    for (RedisNode node : nodes) {
      Eventually.holds(() -> node.keys().stream().noneMatch(k -> isLockKey(k.name())), nodes);
    }
    redlock.lock("reset-0").acquire(Duration.ofSeconds(5)).close();
  }

  private static boolean isLockKey(String key) {
    return key.startsWith("redlock:{") && key.endsWith("}");
  }
}
