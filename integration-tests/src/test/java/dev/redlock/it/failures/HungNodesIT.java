package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Redlock;
import dev.redlock.it.Clients;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** What one and two hung masters of five cost (hazard H23): interleaved with healthy runs. */
@RedisTest(nodes = 5)
class HungNodesIT {
  private static final int ROUNDS = 5;
  private static final int LOCKS = 400;

  @Test
  void oneAndTwoOfFiveHung_costNextToNothing(RedisNodes nodes) {
    List<List<Double>> medians = List.of(new ArrayList<>(), new ArrayList<>());
    List<List<Double>> tails = List.of(new ArrayList<>(), new ArrayList<>());
    try (Redlock redlock = Clients.start(nodes)) {
      DistributedLock lock = redlock.lock("hung");
      measure(lock, 2000);
      for (int round = 0; round < ROUNDS; round++) {
        for (int hung = 1; hung <= 2; hung++) {
          Histogram healthy = measure(lock, LOCKS);
          for (int i = 0; i < hung; i++) {
            nodes.get((round + i) % 5).pause();
          }
          measure(lock, 20); // Hung for good, not just fallen silent.
          Histogram with = measure(lock, LOCKS);
          for (int i = 0; i < hung; i++) {
            nodes.get((round + i) % 5).resume();
          }
          Clients.voting(redlock, 5);
          medians.get(hung - 1).add(ratio(with, healthy, 50));
          tails.get(hung - 1).add(ratio(with, healthy, 99));
          System.out.printf(
              Locale.ROOT,
              "%d of 5 hung: p50 %.3f ms against %.3f, p99 %.3f ms against %.3f%n",
              hung,
              with.getValueAtPercentile(50) / 1e3,
              healthy.getValueAtPercentile(50) / 1e3,
              with.getValueAtPercentile(99) / 1e3,
              healthy.getValueAtPercentile(99) / 1e3);
        }
      }
    }
    for (int hung = 1; hung <= 2; hung++) {
      double p50 = median(medians.get(hung - 1));
      double p99 = median(tails.get(hung - 1));
      System.out.printf(
          Locale.ROOT,
          "hung: %d of 5, median of %d pairs: p50 x %.2f, p99 x %.2f of healthy%n",
          hung,
          ROUNDS,
          p50,
          p99);
      // What is promised is 1.15; a machine that is busy with other things is not the place for it.
      assertThat(p50).as("p50 with %d hung, as a share of healthy", hung).isLessThan(2);
    }
  }

  private static double ratio(Histogram with, Histogram without, double percentile) {
    return (double) with.getValueAtPercentile(percentile)
        / without.getValueAtPercentile(percentile);
  }

  private static double median(List<Double> values) {
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
