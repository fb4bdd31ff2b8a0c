package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.system.LockClient;
import dev.redlock.bench.system.OnePerThread;
import dev.redlock.bench.system.Peer;
import dev.redlock.bench.system.VertxLocks;
import dev.redlock.testkit.RedisNodes;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Two clients with connections of their own that want one name, one caller each: told of a release
 * by the nodes' pushes ({@code redlock}), or by the event bus as well ({@code redlock-vertx}).
 */
public final class VertxHandOver implements Scenario {
  private static final String WITH_BUS = "redlock-vertx";

  @Override
  public String name() {
    return "vertx";
  }

  @Override
  public void measure(Run run) throws Exception {
    if (run.present(Peer.REDLOCK).isEmpty()) {
      return;
    }
    Vertx vertx = Vertx.vertx();
    try (RedisNodes nodes = RedisNodes.start(5)) {
      Map<String, LockClient> systems = new LinkedHashMap<>();
      try {
        systems.put(Peer.REDLOCK.label(), two(() -> Peer.REDLOCK.connect(nodes.uris())));
        systems.put(WITH_BUS, two(() -> VertxLocks.connect(vertx, nodes.uris())));
        for (LockClient client : systems.values()) {
          Drive.run(client, Load.contended(2, run.time(600, 3000)));
        }
        for (int repeat = 0; repeat < run.times(3, 5); repeat++) {
          for (Map.Entry<String, LockClient> system : systems.entrySet()) {
            measure(run, system.getKey(), system.getValue());
          }
        }
      } finally {
        systems.values().forEach(LockClient::close);
      }
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }
  }

  private interface Connect {
    LockClient connect();
  }

  private static LockClient two(Connect connect) {
    List<LockClient> clients = new ArrayList<>();
    clients.add(connect.connect());
    clients.add(connect.connect());
    return new OnePerThread(clients);
  }

  private void measure(Run run, String system, LockClient client) throws InterruptedException {
    Slice slice = Drive.run(client, Load.contended(2, run.time(500, 3000)));
    run.results().add(name(), system, "sections/s", "1/s", slice.rate());
    run.results()
        .add(name(), system, "hand-over-p50", "µs", slice.gaps().getValueAtPercentile(50) / 1e3);
    run.results()
        .add(name(), system, "hand-over-p99", "µs", slice.gaps().getValueAtPercentile(99) / 1e3);
    run.results().add(name(), system, "least-share", "", slice.leastShare());
    run.results().curve(name(), system, slice.gaps());
  }
}
