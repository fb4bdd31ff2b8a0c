package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.it.contract.NodeUnderTest.Feature;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeReply.Code;
import java.time.Duration;
import java.util.Queue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The invalidations that a node sends. */
abstract class InvalidationContract extends NodeContract {

  private TestClient waiter;
  private LockKeys keys;
  private long token;

  @BeforeEach
  void heldWithAWaiter() {
    needs(Feature.INVALIDATIONS);
    waiter = another();
    keys = fresh();
    token = client.now();
    assertCode(client.acquire(keys, ME, token, TTL), Code.GRANTED);
    assertCode(waiter.acquire(keys, OTHER, token + 1, TTL), Code.HELD);
    assertThat(waiter.invalidated).isEmpty();
  }

  private static void awaitKey(Queue<String> told, String key) {
    await("invalidation of " + key)
        .atMost(Duration.ofSeconds(3))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> told.contains(key));
  }

  @Test
  void release_reachesTheWaiter_onceAndWithTheLockKeyOnly() {
    client.release(keys, ME, token);

    awaitKey(waiter.invalidated, keys.lockKey(0));
    waiter.inspect(fresh());
    assertThat(waiter.invalidated).containsExactly(keys.lockKey(0));
  }

  @Test
  void nextLease_sendsNoInvalidationToTheReleasedHolder() {
    client.release(keys, ME, token);
    client.invalidated.clear();

    assertCode(waiter.acquire(keys, OTHER, token + 2, TTL), Code.GRANTED);

    client.inspect(fresh()); // On the same connection, so it comes after every invalidation.
    assertThat(client.invalidated).isEmpty();
  }

  @Test
  void extend_reachesTheWaiter() {
    client.extend(keys, ME, token, TTL);
    awaitKey(waiter.invalidated, keys.lockKey(0));
  }

  @Test
  void expiry_reachesTheWaiter() {
    client.extend(keys, ME, token, 100);
    awaitKey(waiter.invalidated, keys.lockKey(0));
    waiter.invalidated.clear();
    waiter.acquire(keys, OTHER, token + 3, TTL);
    if (waiter.inspect(keys).code() == Code.HELD && server().ttlMillis(keys.lockKey(0)) < 200) {
      awaitKey(waiter.invalidated, keys.lockKey(0));
    }
  }

  @Test
  void deletion_reachesTheWaiterAndTheHolder() {
    server().delete(keys.lockKey(0));
    awaitKey(waiter.invalidated, keys.lockKey(0));
    awaitKey(client.invalidated, keys.lockKey(0));
  }

  @Test
  void deletionAfterAnExtension_reachesTheHolder() {
    client.extend(keys, ME, token, TTL);
    client.invalidated.clear();
    server().delete(keys.lockKey(0));
    awaitKey(client.invalidated, keys.lockKey(0));
  }

  @Test
  void deletionAfterARepair_reachesTheHolder() {
    server().delete(keys.lockKey(0));
    awaitKey(client.invalidated, keys.lockKey(0));
    client.invalidated.clear();
    assertCode(client.extend(keys, ME, token, TTL), Code.REPAIRED);
    server().delete(keys.lockKey(0));
    awaitKey(client.invalidated, keys.lockKey(0));
  }

  @Test
  void break_reachesTheHolder() {
    waiter.ask(new dev.redlock.spi.LockRequest.Break(keys, token + 5));
    awaitKey(client.invalidated, keys.lockKey(0));
  }

  @Test
  void flush_reachesAllClients_andMakesEarlierRepliesVoid() {
    long before = client.node.status().connection();

    server().flush();

    await().atMost(Duration.ofSeconds(3)).until(() -> !waiter.flushes.isEmpty());
    await().atMost(Duration.ofSeconds(3)).until(() -> !client.flushes.isEmpty());
    assertThat(client.node.status().connection()).isGreaterThan(before);
    assertThat(client.inspect(keys).connection()).isEqualTo(client.node.status().connection());
  }
}
