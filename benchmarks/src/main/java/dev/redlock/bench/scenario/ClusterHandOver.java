package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.system.LockClient;
import dev.redlock.bench.system.Peer;
import dev.redlock.bench.system.RedlockClient;
import dev.redlock.bench.system.Tagged;
import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.testkit.RedisNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * One Redis Cluster of three masters and three replicas: pairs one after another, and two clients
 * that lock one name. {@code redlock} receives invalidations and hints by sharded pub/sub (the
 * default), {@code redlock-stream} invalidations and hints by streams, {@code redlock-poll}
 * neither. In a full run, {@code redlock-invalidations} receives invalidations only and {@code
 * redlock-sharded} sharded pub/sub only. All names share a slot. The floor is a connection to the
 * master of that slot, without cluster support.
 */
public final class ClusterHandOver implements Scenario {
  private static final String TAG = "{42}";

  /** A user with all permissions except CLIENT TRACKING. */
  private static final String DEAF_USER = "deaf";

  @Override
  public String name() {
    return "cluster";
  }

  @Override
  public void measure(Run run) throws Exception {
    try (RedisClusterNodes cluster = RedisClusterNodes.start(3, 3)) {
      Map<String, HandOver> systems = new LinkedHashMap<>();
      try {
        connectors(run, cluster)
            .forEach(
                (label, connect) ->
                    systems.put(label, HandOver.between(() -> new Tagged(connect.get(), TAG))));
        List<Map.Entry<String, HandOver>> all = List.copyOf(systems.entrySet());
        for (Map.Entry<String, HandOver> system : all) {
          Drive.run(system.getValue().client(), Load.oneByOne(run.time(400, 3000)));
          if (waits(system.getKey())) {
            system.getValue().warmUp(run);
          }
        }
        for (int repeat = 0; repeat < run.times(2, 5); repeat++) {
          for (Map.Entry<String, HandOver> system : Run.rotated(all, repeat)) {
            measure(run, system.getKey(), system.getValue(), cluster.masters());
          }
        }
      } finally {
        systems.values().forEach(HandOver::close);
      }
    }
  }

  private static Map<String, Supplier<LockClient>> connectors(Run run, RedisClusterNodes cluster) {
    List<String> uris = cluster.uris();
    Map<String, Supplier<LockClient>> all = new LinkedHashMap<>();
    for (Peer peer :
        run.present(Peer.REDLOCK, Peer.FLOOR, Peer.REDISSON_RLOCK, Peer.SPRING_LOCKREGISTRY)) {
      all.put(
          peer.label(),
          peer == Peer.FLOOR
              ? () -> peer.connect(List.of(cluster.masterOf(TAG).uri()))
              : () -> peer.connectToCluster(uris));
    }
    if (all.containsKey(Peer.REDLOCK.label())) {
      List<String> deaf = withoutInvalidations(cluster);
      all.put("redlock-stream", ours(uris, ClusterReleaseHints.STREAM));
      all.put("redlock-poll", ours(deaf, ClusterReleaseHints.NONE));
      if (!run.quick()) {
        all.put("redlock-invalidations", ours(uris, ClusterReleaseHints.NONE));
        all.put("redlock-sharded", ours(deaf, ClusterReleaseHints.SHARDED_PUBSUB));
      }
    }
    return all;
  }

  private static Supplier<LockClient> ours(List<String> uris, ClusterReleaseHints hints) {
    return () -> RedlockClient.connectToCluster(uris, hints);
  }

  private static List<String> withoutInvalidations(RedisClusterNodes cluster) {
    List<String> uris = new ArrayList<>();
    for (RedisNode node : cluster) {
      node.command(
          "ACL", "SETUSER", DEAF_USER, "on", "nopass", "~*", "&*", "+@all", "-client|tracking");
      uris.add(node.uri().replace("redis://", "redis://" + DEAF_USER + ":any@"));
    }
    return uris;
  }

  /** The floor does not wait: a refusal is a failure. */
  private static boolean waits(String label) {
    return !label.equals(Peer.FLOOR.label());
  }

  private void measure(Run run, String label, HandOver system, List<RedisNode> masters)
      throws Exception {
    Slice pairs = Drive.run(system.client(), Load.oneByOne(run.time(300, 3000)));
    run.percentiles(name(), label, "", pairs.pairTimes());
    run.results().add(name(), label, "pairs/s", "1/s", pairs.rate());
    if (waits(label)) {
      system.measure(run, name(), label, masters);
    }
    run.complain(name(), label, pairs);
  }
}
