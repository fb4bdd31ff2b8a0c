package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.system.Held;
import dev.redlock.bench.system.LockClient;
import dev.redlock.bench.system.Peer;
import dev.redlock.bench.system.Waiting;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.HdrHistogram.Histogram;

/**
 * Pairs one after another, while each master replies late to one pair in a hundred: by 50 ms, and
 * independently of the other masters. The delay ends with the pair, so that no later pair waits for
 * it. All systems meet the same delays.
 */
public final class Jitter implements Scenario {
  private static final double SHARE = 0.01;
  private static final Duration LATE = Duration.ofMillis(50);
  private static final Duration SETTLE = Duration.ofMillis(2);
  private static final int NAMES = 64;
  private static final long SEED = 40;

  @Override
  public String name() {
    return "jitter";
  }

  @Override
  public void measure(Run run) throws Exception {
    List<Peer> peers =
        run.present(
            Peer.REDLOCK,
            Peer.REDLOCK_MAJORITY,
            Peer.FLOOR,
            Peer.FLOOR_MAJORITY,
            Peer.REDISSON_REDLOCK);
    int pairs = run.times(2000, 10_000);
    Map<Peer, LockClient> clients = new LinkedHashMap<>();
    try (RedisNodes nodes = RedisNodes.builder().count(5).gated(true).start()) {
      for (Peer peer : peers) {
        LockClient client = peer.connect(nodes.uris());
        clients.put(peer, client);
        pairs(nodes, client, pairs, 0, new Random(SEED)); // Warm-up.
      }
      for (int repeat = 0; repeat < run.times(3, 5); repeat++) {
        for (Map.Entry<Peer, LockClient> each :
            Run.rotated(List.copyOf(clients.entrySet()), repeat)) {
          Random random = new Random(SEED + repeat);
          add(run, each.getKey(), pairs(nodes, each.getValue(), pairs, SHARE, random));
        }
      }
    } finally {
      clients.values().forEach(LockClient::close);
    }
  }

  private record Times(Histogram acquire, Histogram pair) {}

  private void add(Run run, Peer peer, Times times) {
    run.percentiles(name(), peer, "", times.pair());
    for (double percentile : new double[] {50, 99, 99.5}) {
      double micros = times.acquire().getValueAtPercentile(percentile) / 1e3;
      String metric = "acquire-p" + String.valueOf(percentile).replace(".0", "");
      run.add(name(), peer, metric, "µs", micros);
    }
    run.results().curve(name(), peer.label(), times.acquire());
  }

  private static Times pairs(
      RedisNodes nodes, LockClient client, int count, double share, Random random)
      throws Exception {
    Times times = new Times(Drive.histogram(), Drive.histogram());
    for (int i = 0; i < count; i++) {
      List<RedisNode> late = new ArrayList<>();
      for (RedisNode node : nodes) {
        if (random.nextDouble() < share) {
          node.gate().delay(Duration.ZERO, LATE);
          late.add(node);
        }
      }
      long asked = System.nanoTime();
      Held held = client.acquire("jitter-" + i % NAMES);
      long granted = System.nanoTime();
      held.release();
      times.acquire().recordValue(granted - asked);
      times.pair().recordValue(System.nanoTime() - asked);
      if (!late.isEmpty()) {
        late.forEach(node -> node.gate().endFaults());
        Waiting.pause(SETTLE); // The late replies arrive.
      }
    }
    return times;
  }
}
