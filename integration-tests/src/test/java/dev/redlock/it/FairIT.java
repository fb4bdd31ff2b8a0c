package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Fair mode: callers are served in the order of their arrival, whatever process they are in. */
@RedisTest(nodes = 5)
@Tag("thorough")
class FairIT {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final LockOptions FAIR = Clients.options().fair(true).build();

  private final RedisNodes nodes;

  FairIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Test
  void grants_waitersOfFiveClients_followTheOrderOfArrival() throws Exception {
    int clients = 5;
    int rounds = 50;
    List<Redlock> all = new ArrayList<>();
    try {
      for (int i = 0; i < clients; i++) {
        all.add(Clients.start(nodes));
      }
      int overtakings = 0;
      int grants = 0;
      for (int round = 0; round < rounds; round++) {
        String name = "fair-" + round % 7;
        Lease held = all.get(round % clients).lock(name, FAIR).acquire(WAIT);
        ConcurrentLinkedQueue<Integer> order = new ConcurrentLinkedQueue<>();
        List<CompletableFuture<Void>> done = new ArrayList<>();
        // Two interleaved waiters of each client: a local hand-off would overtake another client.
        for (int w = 0; w < 2 * clients; w++) {
          int place = w;
          DistributedLock lock = all.get((round + 1 + w) % clients).lock(name, FAIR);
          done.add(
              lock.acquireAsync(WAIT)
                  .thenCompose(
                      lease -> {
                        order.add(place);
                        return lease.releaseAsync();
                      }));
          queued(name, Math.min(w + 1, clients - 1));
        }
        held.close();
        CompletableFuture.allOf(done.toArray(CompletableFuture[]::new)).get(30, TimeUnit.SECONDS);
        int last = -1;
        for (int place : order) {
          overtakings += place < last ? 1 : 0;
          last = Math.max(last, place);
          grants++;
        }
      }
      System.out.println("fair: " + grants + " grants, " + overtakings + " overtaken");
      assertThat(grants).isEqualTo(rounds * 2 * clients);
      assertThat(overtakings).isLessThanOrEqualTo(grants / 50);
    } finally {
      all.forEach(Redlock::close);
    }
  }

  /** Waits until this number of clients is enqueued on a node, and 10 ms more. */
  private void queued(String name, int clients) {
    long start = System.nanoTime();
    Eventually.holds(
        () ->
            System.nanoTime() - start > 10_000_000 // Longer than the error of the clock estimates.
                && nodes.stream()
                    .anyMatch(n -> (Long) n.command("ZCARD", Clients.queueKey(name)) >= clients),
        nodes);
  }

  @Test
  void place_ofAKilledWaiter_costsTheNextItsPatienceAndNoMore() throws Exception {
    long[] millis = new long[9];
    LockOptions lazy = FAIR.toBuilder().pollInterval(Duration.ofMinutes(1)).build();
    try (Redlock holder = Clients.start(nodes);
        Redlock patient = Clients.start(nodes)) {
      for (int i = 0; i < millis.length; i++) {
        String name = "killed-" + i;
        Lease held = holder.lock(name, lazy).acquire(WAIT);
        CompletableFuture<Long> in =
            patient
                .lock(name, lazy)
                .acquireAsync(WAIT)
                .thenApply(
                    lease -> {
                      long now = System.nanoTime();
                      lease.releaseAsync();
                      return now;
                    });
        queued(name, 1);
        String queue = Clients.queueKey(name);
        for (RedisNode node : nodes) {
          if ((Long) node.command("ZCARD", queue) > 0) {
            node.command("ZADD", queue, "1", "killed"); // This process came first, a long time ago.
          }
        }
        long start = System.nanoTime();
        held.close();
        millis[i] = (in.get(20, TimeUnit.SECONDS) - start) / 1_000_000;
      }
    }
    Arrays.sort(millis);
    System.out.println("fair: in behind a killed waiter after ms " + Arrays.toString(millis));
    assertThat(millis[0]).as("the patience is at least 10 ms").isGreaterThanOrEqualTo(8);
    assertThat(millis[4]).as("median ms").isLessThan(1_000);
  }
}
