package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.client.VirtualNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A client keeps in memory only the names that are in use. */
class IdleNamesTest {
  private static final Duration WAIT = Duration.ofMinutes(1);
  private static final Duration SOON = Duration.ofSeconds(1);

  private final VirtualNodes nodes = new VirtualNodes(5);

  @AfterEach
  void close() {
    nodes.close();
  }

  private static Locks locksOf(Redlock client) {
    return ((Client) client).context().locks;
  }

  private static void assertForgotten(Redlock client, String... names) {
    Locks locks = locksOf(client);
    assertThat(locks.size()).isZero();
    for (String name : names) {
      assertThat(locks.of("redlock:{" + name + "}")).as(name).isEmpty();
    }
  }

  @Test
  void name_releasedByItsOnlyUser_isForgotten() {
    Redlock client = nodes.client();
    String[] names = new String[1000];
    for (int i = 0; i < names.length; i++) {
      names[i] = "name-" + i;
      client.lock(names[i]).acquireAsync(WAIT).thenAccept(Lease::releaseAsync);
    }
    assertThat(locksOf(client).size()).isEqualTo(names.length);
    nodes.time().pass(SOON);
    assertForgotten(client, names);
  }

  @Test
  void names_ofAMultiLock_areForgottenEachByItself() {
    Redlock client = nodes.client();
    List<Lease> both = new ArrayList<>();
    client.lock(List.of("a", "b")).acquireAsync(WAIT).thenAccept(both::add);
    nodes.time().pass(SOON);
    client.lock("b").acquireAsync(Duration.ofMillis(100));
    assertThat(locksOf(client).of("redlock:{b}")).hasSize(2);
    nodes.time().pass(SOON);
    assertThat(locksOf(client).of("redlock:{b}")).hasSize(1);
    both.get(0).releaseAsync();
    nodes.time().pass(SOON);
    assertForgotten(client, "a", "b");
  }

  @Test
  void name_whoseWaitersHaveAllGone_isForgottenAndLeavesNoKey() {
    Redlock holder = nodes.client();
    Redlock client = nodes.client();
    DistributedLock lock =
        client.lock("a", LockOptions.builder().queueBound(2000).fair(true).build());
    List<Lease> held = new ArrayList<>();
    holder.lock("a", lock.options()).acquireAsync(WAIT).thenAccept(held::add);
    nodes.time().pass(SOON);
    List<CompletableFuture<Lease>> waiters = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      waiters.add(lock.acquireAsync(i < 500 ? WAIT : Duration.ofMillis(200 + i)));
    }
    nodes.time().pass(Duration.ofSeconds(2)); // The wait timeout of half of them passes.
    assertThat(locksOf(client).size()).isEqualTo(1);
    waiters.subList(0, 500).forEach(waiter -> assertThat(waiter).isNotDone());
    waiters.forEach(waiter -> waiter.cancel(true));
    nodes.time().pass(SOON);
    assertForgotten(client, "a");
    held.get(0).releaseAsync();
    nodes.time().pass(SOON);
    assertForgotten(holder, "a");
    assertThat(nodes.holding("a")).isZero();
  }

  @Test
  void name_thatWasRefusedOrOnlyLookedAt_isForgotten() {
    Redlock holder = nodes.client();
    Redlock client = nodes.client();
    List<Lease> held = new ArrayList<>();
    holder.lock("a").acquireAsync(WAIT).thenAccept(held::add);
    nodes.time().pass(SOON);
    client.lock("a").tryAcquireAsync();
    client.operations().inspect("a");
    client.operations().inspect("b");
    nodes.time().pass(SOON);
    assertForgotten(client, "a", "b");
    held.get(0).releaseAsync();
  }
}
