package dev.redlock.bench.scenario;

import dev.redlock.bench.system.Peer;
import dev.redlock.bench.system.VertxLocks;
import dev.redlock.testkit.RedisNodes;
import io.vertx.core.Vertx;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Two clients that receive release hints as invalidations only ({@code redlock}), or also on the
 * event bus ({@code redlock-vertx}).
 */
public final class VertxHandOver implements Scenario {
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
      Map<String, HandOver> systems = new LinkedHashMap<>();
      try {
        systems.put(
            Peer.REDLOCK.label(), HandOver.between(() -> Peer.REDLOCK.connect(nodes.uris())));
        systems.put(
            "redlock-vertx", HandOver.between(() -> VertxLocks.connect(vertx, nodes.uris())));
        for (HandOver system : systems.values()) {
          system.warmUp(run);
        }
        for (int repeat = 0; repeat < run.times(2, 5); repeat++) {
          for (Map.Entry<String, HandOver> system : systems.entrySet()) {
            system.getValue().measure(run, name(), system.getKey(), nodes);
          }
        }
      } finally {
        systems.values().forEach(HandOver::close);
      }
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }
  }
}
