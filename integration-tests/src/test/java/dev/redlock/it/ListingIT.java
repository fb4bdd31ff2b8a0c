package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.operations.LockListing;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Held locks are listed and watched on real masters, also when there are very many of them. */
@RedisTest(nodes = 3)
@Tag("thorough")
class ListingIT {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final int MANY = 100_000;

  private final RedisNodes nodes;

  ListingIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  /** As the administrator: an application's user need not be able to scan. */
  private Redlock client(String label) {
    return Clients.voting(
        Redlock.builder()
            .nodes(nodes.uris().toArray(String[]::new))
            .restartGuard(RestartGuard.OFF)
            .nodeTimeout(Clients.PATIENCE)
            .label(label)
            .build(),
        nodes.size());
  }

  private static List<LockListing.Entry> page(LockListing listing) throws Exception {
    return listing.next().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  @Test
  void heldLocks_areListedWithHolderFenceAndQueue() throws Exception {
    try (Redlock holder = client("orders/pod-3 ü");
        Redlock operator = client("")) {
      Lease plain = holder.lock("listed-1").acquire(WAIT);
      Lease tagged = holder.lock("listed-{42}:x").acquire(WAIT);
      holder.lock("listed-free").acquire(WAIT).close();
      var waits = operator.lock("listed-1").acquireAsync(WAIT);
      Eventually.holds(
          () -> {
            try (LockListing listing = operator.operations().list("listed-*")) {
              List<LockListing.Entry> locks = page(listing);
              return locks.stream().anyMatch(lock -> lock.waiting().containsValue(1))
                  && page(listing).isEmpty();
            }
          },
          Duration.ofSeconds(10),
          nodes);
      try (LockListing listing = operator.operations().list("*")) {
        List<LockListing.Entry> locks = page(listing);
        assertThat(locks)
            .extracting(LockListing.Entry::name)
            .containsExactlyInAnyOrder("listed-1", "listed-{42}:x");
        assertThat(locks)
            .allSatisfy(lock -> assertThat(lock.holderLabel()).isEqualTo("orders/pod-3 ü"))
            .allSatisfy(lock -> assertThat(lock.storedBy()).isEqualTo(3))
            .allSatisfy(
                lock -> assertThat(lock.remaining()).isBetween(Duration.ZERO, WAIT.multipliedBy(2)))
            .anySatisfy(
                lock ->
                    assertThat(lock.highestTokenSeen()).isEqualTo(tagged.fencingToken().value()));
      }
      plain.close();
      waits.join().close();
      tagged.close();
    }
  }

  @Test
  void hundredThousandLocks_areListedInPagesWhileOthersContinue() throws Exception {
    for (RedisNode node : nodes) {
      fill(node);
    }
    try (Redlock operator = client("")) {
      DistributedLock lock = operator.lock("another"); // It shares the connections.
      latency(lock, 300); // Warms up.
      double alone = latency(lock, 300);
      long begun = System.nanoTime();
      Set<String> names = Collections.synchronizedSet(new HashSet<>());
      int longestPage = 0;
      double meanwhile = 0;
      double firstMillis = 0;
      int pages = 0;
      try (LockListing listing = operator.operations().list("many-*")) {
        for (List<LockListing.Entry> page = page(listing); !page.isEmpty(); page = page(listing)) {
          if (pages++ == 0) {
            firstMillis = (System.nanoTime() - begun) / 1e6;
          }
          longestPage = Math.max(longestPage, page.size());
          names.addAll(page.stream().map(LockListing.Entry::name).collect(Collectors.toSet()));
          if (pages == 20) { // In the middle of the listing, which continues at the same time.
            var ahead = new ArrayList<CompletableFuture<?>>();
            for (int i = 0; i < 200; i++) {
              ahead.add(
                  listing
                      .next()
                      .thenAccept(more -> more.forEach(listed -> names.add(listed.name())))
                      .toCompletableFuture());
            }
            meanwhile = latency(lock, 300);
            CompletableFuture.allOf(ahead.toArray(CompletableFuture<?>[]::new))
                .get(60, TimeUnit.SECONDS);
          }
        }
      }
      System.out.printf(
          "%d locks in %.1f s, first page %.0f ms, longest page %d; another lock: %.0f µs alone,"
              + " %.0f µs meanwhile%n",
          names.size(),
          (System.nanoTime() - begun) / 1e9,
          firstMillis,
          longestPage,
          alone,
          meanwhile);
      assertThat(names).hasSize(MANY);
      assertThat(longestPage).isLessThan(2_000);
      assertThat(firstMillis).as("ms until the first page").isLessThan(5_000);
      assertThat(meanwhile / alone).as("latency of others").isLessThan(8);
      for (RedisNode node : nodes) {
        String stats = String.valueOf(node.command("INFO", "stats"));
        int tracked =
            Integer.parseInt(stats.replaceAll("(?s).*tracking_total_keys:(\\d+).*", "$1"));
        assertThat(tracked).as("keys whose changes the node reports").isLessThan(100);
      }
    } finally {
      for (RedisNode node : nodes) {
        change(
            node,
            "redis.call('DEL', 'redlock:{many-' .. i .. '}', 'redlock:{many-' .. i .. '}:fence')");
      }
    }
  }

  private static void fill(RedisNode node) {
    change(
        node,
        "redis.call('SET', 'redlock:{many-' .. i .. '}', 'id' .. i .. '~pod', 'PX', 600000)"
            + " redis.call('SET', 'redlock:{many-' .. i .. '}:fence', '5:0:0', 'PX', 600000)");
  }

  private static void change(RedisNode node, String each) {
    int part = MANY / 20;
    for (int from = 0; from < MANY; from += part) {
      node.command(
          "EVAL",
          "for i = " + from + ", " + (from + part - 1) + " do " + each + " end return 1",
          "0");
    }
  }

  /** The mean time of an acquire and its release, in microseconds. */
  private static double latency(DistributedLock lock, int times) {
    long begun = System.nanoTime();
    for (int i = 0; i < times; i++) {
      lock.acquire(WAIT).close();
    }
    return (System.nanoTime() - begun) / 1e3 / times;
  }
}
