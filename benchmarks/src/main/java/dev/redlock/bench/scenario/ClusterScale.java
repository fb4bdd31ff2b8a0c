package dev.redlock.bench.scenario;

import dev.redlock.Redlock;
import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.system.Peer;
import dev.redlock.bench.system.RedlockClient;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.spi.LockNode;
import dev.redlock.testkit.RedisNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A quorum of three whole clusters with 1, 2 and 4 masters each, and many pairs in flight; {@code
 * scale-N} is the scenario with N masters for each cluster.
 *
 * <p>A machine with fewer processors than masters cannot show all of the growth in {@code pairs/s}.
 * {@code busiest/pair} is the processor time of the busiest master for each pair; {@code limit} is
 * the number of pairs a second at which this master would use one whole processor.
 */
public final class ClusterScale implements Scenario {
  private static final int CLUSTERS = 3;
  private static final int IN_FLIGHT = 256;

  @Override
  public String name() {
    return "scale";
  }

  @Override
  public void measure(Run run) throws Exception {
    if (run.present(Peer.REDLOCK).isEmpty()) {
      return;
    }
    Load load = Load.spread(Load.Mode.ASYNC, IN_FLIGHT, run.time(1_000, 4_000));
    List<Size> sizes = new ArrayList<>();
    try {
      for (int masters : new int[] {1, 2, 4}) {
        sizes.add(Size.start(masters));
      }
      for (Size size : sizes) {
        Drive.run(size.client(), load);
      }
      Cpu.awaitIdle();
      for (int repeat = 0; repeat < run.times(3, 5); repeat++) {
        for (Size size : Run.rotated(sizes, repeat)) {
          measure(run, size, load);
        }
      }
    } finally {
      sizes.forEach(Size::close);
    }
  }

  private void measure(Run run, Size size, Load load) throws InterruptedException {
    String scenario = name() + "-" + size.masters().size() / CLUSTERS;
    List<Double> before = size.processorMicros();
    Slice slice = Drive.run(size.client(), load);
    List<Double> after = size.processorMicros();
    double busiest = 0;
    for (int i = 0; i < before.size(); i++) {
      busiest = Math.max(busiest, after.get(i) - before.get(i));
    }
    double perPair = busiest / Math.max(1, slice.pairs());
    run.add(scenario, Peer.REDLOCK, "pairs/s", "1/s", slice.rate());
    run.add(scenario, Peer.REDLOCK, "busiest/pair", "µs", perPair);
    run.add(scenario, Peer.REDLOCK, "limit", "1/s", 1e6 / perPair);
    run.complain(scenario, Peer.REDLOCK, slice);
  }

  /** Three clusters of one size, and a client of them. */
  private record Size(
      List<RedisClusterNodes> clusters, List<RedisNode> masters, RedlockClient client) {

    static Size start(int mastersOfEach) {
      List<RedisClusterNodes> clusters = new ArrayList<>();
      try {
        for (int i = 0; i < CLUSTERS; i++) {
          clusters.add(RedisClusterNodes.start(mastersOfEach, 0));
        }
        LockNode[] nodes =
            clusters.stream()
                .map(cluster -> ClusterLockNode.connect(cluster.uris().get(0)))
                .toArray(LockNode[]::new);
        RedlockClient client = RedlockClient.of(Redlock.builder().nodes(nodes));
        Stream<RedisNode> masters = clusters.stream().flatMap(its -> its.masters().stream());
        return new Size(clusters, masters.toList(), client);
      } catch (RuntimeException e) {
        clusters.forEach(RedisClusterNodes::close);
        throw e;
      }
    }

    List<Double> processorMicros() {
      return masters.stream().map(Cpu::microsOf).toList();
    }

    void close() {
      client.close();
      clusters.forEach(RedisClusterNodes::close);
    }
  }
}
