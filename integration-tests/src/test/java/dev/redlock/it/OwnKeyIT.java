package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.Redlock;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The nodes push what happens to the holder's own keys; it acts at once, not at its next turn. */
@RedisTest(nodes = 5)
class OwnKeyIT {
  private static final Duration WAIT = Duration.ofSeconds(5);

  private final RedisNodes nodes;
  private Redlock redlock;

  OwnKeyIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @BeforeEach
  void connect() {
    redlock = Clients.start(nodes);
  }

  @AfterEach
  void disconnect() {
    redlock.close();
  }

  @Test
  void lease_takenByAnotherOnAQuorum_isLostLongBeforeItsNextExtension() throws Exception {
    long[] millis = new long[9];
    for (int i = 0; i < millis.length; i++) {
      Lease lease = redlock.lock("superseded").acquire(WAIT);
      everywhere("superseded");
      long start = System.nanoTime();
      for (int n = 0; n < 3; n++) {
        nodes.get(n).command("SET", Clients.lockKey("superseded"), "another", "PX", "5000");
      }
      LeaseEnd end = lease.whenEnded().toCompletableFuture().get(3, TimeUnit.SECONDS);
      millis[i] = (System.nanoTime() - start) / 1_000_000;
      assertThat(end).isEqualTo(LeaseEnd.LOST);
      for (int n = 0; n < 3; n++) {
        nodes.get(n).command("DEL", Clients.lockKey("superseded"));
      }
      gone("superseded");
    }
    Arrays.sort(millis);
    System.out.println("superseded: LOST after median " + millis[4] + " ms, max " + millis[8]);
    assertThat(millis[4]).as("median ms").isLessThanOrEqualTo(100);
    assertThat(millis[8]).as("longest ms").isLessThanOrEqualTo(500);
  }

  @Test
  void lease_keysDeletedOnAllNodes_areBackBeforeAnybodyElseGetsIn() throws Exception {
    long[] millis = new long[9];
    try (Redlock other = Clients.start(nodes);
        Lease lease = redlock.lock("deleted").acquire(WAIT)) {
      for (int i = 0; i < millis.length; i++) {
        everywhere("deleted");
        long start = System.nanoTime();
        for (RedisNode node : nodes) {
          node.command("DEL", Clients.lockKey("deleted"));
        }
        everywhere("deleted");
        millis[i] = (System.nanoTime() - start) / 1_000_000;
        assertThat(other.lock("deleted").tryAcquire()).isEmpty();
        assertThat(lease.isValid()).isTrue();
      }
    }
    Arrays.sort(millis);
    System.out.println("deleted: repaired after median " + millis[4] + " ms, max " + millis[8]);
    assertThat(millis[4]).as("median ms").isLessThanOrEqualTo(100);
    assertThat(millis[8]).as("longest ms").isLessThanOrEqualTo(500);
  }

  @Test
  void breakLock_byAnOperator_takesTheLockAndBarsItsReturn() throws Exception {
    try (Redlock operator = Clients.start(nodes)) {
      Lease lease = redlock.lock("broken").acquire(WAIT);
      everywhere("broken");
      operator.breakLock("broken").toCompletableFuture().get(3, TimeUnit.SECONDS);
      assertThat(lease.whenEnded().toCompletableFuture().get(3, TimeUnit.SECONDS))
          .isEqualTo(LeaseEnd.LOST);
      assertThatThrownBy(lease::ensureValid).isInstanceOf(LeaseLostException.class);
      gone("broken");
      try (Lease next = operator.lock("broken").acquire(WAIT)) {
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
      }
    }
  }

  @Test
  void breakLock_ofOurOwn_endsItAtOnce() throws Exception {
    Lease lease = redlock.lock("own").acquire(WAIT);
    redlock.breakLock("own").toCompletableFuture().get(3, TimeUnit.SECONDS);
    assertThat(lease.whenEnded().toCompletableFuture().get(3, TimeUnit.SECONDS))
        .isEqualTo(LeaseEnd.LOST);
  }

  private void everywhere(String name) {
    for (RedisNode node : nodes) {
      Eventually.holds(() -> Clients.holdsKey(node, name), nodes);
    }
  }

  private void gone(String name) {
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, name), nodes);
    }
  }
}
