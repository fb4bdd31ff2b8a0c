package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.operations.LockListing;
import dev.redlock.spi.LockKeys;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What is held, listed on all masters of a cluster. */
class ClusterListingIT {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final LockOptions OPTIONS =
      LockOptions.builder().nodeTimeout(Duration.ofSeconds(1)).build();

  /** More than two pages. */
  private static final int MANY = 250;

  private static RedisClusterNodes cluster;

  @BeforeAll
  static void start() {
    cluster = RedisClusterNodes.builder().replicas(0).nodeTimeout(Duration.ofSeconds(15)).start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  private static List<List<LockListing.Entry>> pages(Redlock redlock, String pattern)
      throws Exception {
    List<List<LockListing.Entry>> pages = new ArrayList<>();
    try (LockListing listing = redlock.operations().list(pattern)) {
      do {
        pages.add(listing.next().toCompletableFuture().get(60, TimeUnit.SECONDS));
      } while (!pages.get(pages.size() - 1).isEmpty());
    }
    return pages;
  }

  static List<LockListing.Entry> all(Redlock redlock, String pattern) throws Exception {
    return pages(redlock, pattern).stream().flatMap(List::stream).toList();
  }

  @Test
  void locksOfAllMasters_areListedOnce_inPagesOfHundred() throws Exception {
    try (Redlock holder = ClusterClients.start(cluster);
        Redlock operator = ClusterClients.start(cluster)) {
      List<Lease> leases = new ArrayList<>();
      Set<RedisNode> used = new HashSet<>();
      Set<String> names = new HashSet<>();
      for (int i = 0; i < MANY; i++) {
        String name = "listed-" + i;
        leases.add(holder.lock(name, OPTIONS).acquire(WAIT));
        used.add(cluster.masterOf("{" + name + "}"));
        names.add(name);
      }
      holder.lock("listed-free", OPTIONS).acquire(WAIT).close();
      leases.add(holder.lock("other", OPTIONS).acquire(WAIT));
      assertThat(used).hasSize(3);

      List<List<LockListing.Entry>> pages = pages(operator, "listed-*");
      assertThat(pages).extracting(List::size).containsExactly(100, 100, 50, 0);
      List<LockListing.Entry> listed = pages.stream().flatMap(List::stream).toList();
      assertThat(listed)
          .extracting(LockListing.Entry::name)
          .containsExactlyInAnyOrderElementsOf(names);
      assertThat(listed).allSatisfy(lock -> assertThat(lock.storedBy()).isEqualTo(1));
      assertThat(listed.stream().filter(lock -> lock.name().equals("listed-7")).findFirst())
          .hasValueSatisfying(
              lock ->
                  assertThat(lock.highestTokenSeen())
                      .isEqualTo(leases.get(7).fencingToken().value()));
      leases.forEach(Lease::close);
      assertThat(all(operator, "*")).isEmpty();
    }
  }

  /** The target scans the keys that have arrived, but a script may not read them yet. */
  @Test
  void slotThatMoves_disturbsNoOtherLock() throws Exception {
    int slot = RedisClusterNodes.slot("{importing}");
    RedisNode from = cluster.masterOf(slot);
    RedisNode to = cluster.masters().stream().filter(master -> master != from).findFirst().get();
    try (Redlock redlock = ClusterClients.start(cluster);
        Lease moved = redlock.lock("moved_{importing}", OPTIONS).acquire(WAIT);
        Lease left = redlock.lock("left_{importing}", OPTIONS).acquire(WAIT);
        Lease other = redlock.lock("elsewhere", OPTIONS).acquire(WAIT)) {
      cluster.openSlot(slot, from, to);
      String key = LockKeys.of("redlock", moved.names()).lockKey(0);
      from.command("MIGRATE", "127.0.0.1", Integer.toString(to.directPort()), key, "0", "5000");
      assertThat(all(redlock, "*"))
          .extracting(LockListing.Entry::name)
          .contains("left_{importing}", "elsewhere");
      cluster.moveKeys(slot, from, to);
      cluster.closeSlot(slot, to);
      redlock.lock("informed_{importing}", OPTIONS).acquire(WAIT).close(); // MOVED
      assertThat(all(redlock, "*"))
          .extracting(LockListing.Entry::name)
          .containsExactlyInAnyOrder("moved_{importing}", "left_{importing}", "elsewhere");
      assertThat(left.isValid() && other.isValid()).isTrue();
    }
  }
}
