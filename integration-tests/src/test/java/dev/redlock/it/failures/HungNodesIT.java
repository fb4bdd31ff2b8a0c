package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.it.Clients;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The cost of one and of two hung masters out of five (hazard H23), interleaved with healthy runs.
 */
@RedisTest(nodes = 5)
class HungNodesIT {
  private static final int ROUNDS = 5;
  private static final int LOCKS = 400;

  /**
   * Whether the test requires the exact promise. On a busy machine it only requires that callers do
   * not wait for hung nodes.
   */
  private static final boolean STRICT = Boolean.getBoolean("redlock.strict");

  @Tag("thorough")
  @Test
  void oneAndTwoOfFiveHung_costNextToNothing(RedisNodes nodes) {
    List<List<Double>> medians = List.of(new ArrayList<>(), new ArrayList<>());
    List<List<Double>> tails = List.of(new ArrayList<>(), new ArrayList<>());
    List<List<Double>> longer = List.of(new ArrayList<>(), new ArrayList<>());
    try (Redlock redlock = Clients.start(nodes)) {
      DistributedLock lock = redlock.lock("hung");
      measure(lock, 2000);
      for (int round = 0; round < ROUNDS; round++) {
        for (int hung = 1; hung <= 2; hung++) {
          Histogram healthy = measure(lock, LOCKS);
          for (int i = 0; i < hung; i++) {
            nodes.get((round + i) % 5).pause();
          }
          measure(lock, 20); // The nodes are known to hang.
          Histogram with = measure(lock, LOCKS);
          for (int i = 0; i < hung; i++) {
            nodes.get((round + i) % 5).resume();
          }
          Clients.voting(redlock, 5);
          medians.get(hung - 1).add(ratio(with, healthy, 50));
          tails.get(hung - 1).add(ratio(with, healthy, 99));
          longer.get(hung - 1).add(millis(with, 99) - millis(healthy, 99));
          System.out.printf(
              Locale.ROOT,
              "%d of 5 hung: p50 %.3f ms against %.3f, p99 %.3f ms against %.3f%n",
              hung,
              millis(with, 50),
              millis(healthy, 50),
              millis(with, 99),
              millis(healthy, 99));
        }
      }
    }
    for (int hung = 1; hung <= 2; hung++) {
      double p50 = median(medians.get(hung - 1));
      double p99 = median(tails.get(hung - 1));
      double more = median(longer.get(hung - 1));
      System.out.printf(
          Locale.ROOT,
          "hung: %d of 5, median of %d pairs: p50 x %.2f, p99 x %.2f of healthy or %.2f ms more%n",
          hung,
          ROUNDS,
          p50,
          p99,
          more);
      assertThat(p50)
          .as("p50 with %d hung, as a share of healthy", hung)
          .isLessThanOrEqualTo(STRICT ? 1.15 : 2);
      assertThat(p99 <= 2 || more <= (STRICT ? 2 : 30))
          .as("p99 with %d hung: %.2f of healthy, %.2f ms more", hung, p99, more)
          .isTrue();
    }
  }

  private static final Duration NODE_TIMEOUT = Duration.ofMillis(400);

  /**
   * The lock is held: the three running nodes refuse it, and the caller does not wait for the
   * others.
   */
  @Test
  void refusal_heldWhileTwoOfFiveHung_doesNotWait(RedisNodes nodes) {
    try (Redlock one = Clients.start(nodes);
        Redlock two = client(nodes);
        Lease held = one.lock("held").acquire(Duration.ofSeconds(5))) {
      Clients.everywhere(nodes, "held");
      for (int hung = 1; hung <= 2; hung++) {
        nodes.get(hung).pause();
        assertThat(medianRefusal(two, "held", 9))
            .as("ms of a refusal with %d of 5 hung", hung)
            .isLessThan(NODE_TIMEOUT.toMillis() / 2);
      }
      assertThat(held.isValid()).isTrue();
      resume(nodes);
    }
  }

  /** Split votes: without the hung nodes, neither client can have a quorum. */
  @Test
  void refusal_voteOfAHungNodeWouldDecide_isNotWaitedForOnceItIsKnownToHang(RedisNodes nodes) {
    try (Redlock redlock = client(nodes)) {
      for (int hung = 1; hung <= 2; hung++) {
        for (int i = 0; i < 2; i++) {
          nodes.get(i).command("SET", Clients.lockKey("split"), "other", "PX", "60000");
        }
        nodes.get(5 - hung).pause();
        redlock.lock("other").acquire(Duration.ofSeconds(5)).close();
        assertThat(refused(redlock, "split")).isTrue(); // From here on it is known to hang.
        assertThat(medianRefusal(redlock, "split", 5))
            .as("ms of a refusal with %d of 5 hung", hung)
            .isLessThan(NODE_TIMEOUT.toMillis() / 2);
      }
      resume(nodes);
      nodes.forEach(node -> node.command("DEL", Clients.lockKey("split")));
    }
  }

  private static Redlock client(RedisNodes nodes) {
    LockOptions patient = LockOptions.builder().nodeTimeout(NODE_TIMEOUT).build();
    return Clients.voting(Clients.on(nodes).defaults(patient).build(), 5);
  }

  private static void resume(RedisNodes nodes) {
    nodes.forEach(RedisNode::resume);
  }

  private static boolean refused(Redlock redlock, String name) {
    try {
      return redlock.lock(name).tryAcquire().isEmpty();
    } catch (QuorumUnavailableException e) {
      return true; // On a busy machine.
    }
  }

  private static long medianRefusal(Redlock redlock, String name, int count) {
    List<Double> millis = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long start = System.nanoTime();
      assertThat(refused(redlock, name)).isTrue();
      millis.add((System.nanoTime() - start) / 1e6);
    }
    System.out.println("refused after ms " + millis);
    return median(millis).longValue();
  }

  private static double ratio(Histogram with, Histogram without, double percentile) {
    return (double) with.getValueAtPercentile(percentile)
        / without.getValueAtPercentile(percentile);
  }

  private static double millis(Histogram micros, double percentile) {
    return micros.getValueAtPercentile(percentile) / 1e3;
  }

  private static Double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  private static Histogram measure(DistributedLock lock, int count) {
    Histogram micros = new Histogram(3);
    for (int i = 0; i < count; i++) {
      long start = System.nanoTime();
      lock.acquire(Duration.ofSeconds(5)).close();
      micros.recordValue((System.nanoTime() - start) / 1000);
    }
    return micros;
  }
}
