package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.report.Results;
import dev.redlock.bench.system.FloorClient;
import dev.redlock.bench.system.FloorClient.Step;
import dev.redlock.bench.system.LockClient;
import dev.redlock.bench.system.Peer;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where the time of an uncontended pair goes. Clients that do more and more are measured in turns:
 * two quorums of {@code PING}, of {@code SET NX} and compare-and-delete, of our scripts, then the
 * library; each asynchronously, and with a thread that waits. The differences of their medians are
 * the parts.
 */
public final class Profile implements Scenario {
  private static final String NETWORK = "network";
  private static final String SCRIPTS = "scripts";
  private static final String CLIENT = "client";
  private static final String WAKE_UPS = "wake-ups";

  @Override
  public String name() {
    return "profile";
  }

  private record Turn(LockClient client, Load load) {}

  @Override
  public void measure(Run run) throws Exception {
    if (run.present(Peer.REDLOCK).isEmpty()) {
      return;
    }
    Duration time = run.time(400, 3000);
    Load async = new Load(Load.Mode.ASYNC, 1, false, 64, time, Long.MAX_VALUE);
    Load blocking = Load.oneByOne(time);
    Map<String, LockClient> clients = new LinkedHashMap<>();
    try (RedisNodes nodes = RedisNodes.start(5)) {
      List<String> uris = nodes.uris();
      try {
        clients.put("ping", FloorClient.connect(uris, Step.PING));
        clients.put("bare", FloorClient.connect(uris, Step.BARE));
        clients.put("floor", FloorClient.connect(uris, Step.OUR_SCRIPTS));
        clients.put("redlock", Peer.REDLOCK.connect(uris));
        Map<String, Turn> turns = new LinkedHashMap<>();
        clients.forEach(
            (label, client) -> {
              turns.put(label + " async", new Turn(client, async));
              turns.put(label, new Turn(client, blocking));
            });
        for (Turn turn : turns.values()) {
          Drive.run(turn.client(), turn.load().lasting(run.time(800, 5000)));
        }
        Cpu.awaitIdle();
        measure(run, turns);
      } finally {
        clients.values().forEach(LockClient::close);
      }
    }
    parts(run.results());
  }

  private void measure(Run run, Map<String, Turn> turns) throws InterruptedException {
    for (int repeat = 0; repeat < run.times(7, 11); repeat++) {
      for (Map.Entry<String, Turn> entry : Run.rotated(List.copyOf(turns.entrySet()), repeat)) {
        String label = entry.getKey();
        Turn turn = entry.getValue();
        Slice slice = Drive.run(turn.client(), turn.load());
        run.percentiles(name(), label, "", slice.pairTimes());
        run.complain(name(), label, slice);
      }
    }
  }

  private void parts(Results results) {
    double network = p50(results, "ping async");
    for (String system : List.of("bare", "floor", "redlock")) {
      double async = p50(results, system + " async");
      double raw = system.equals("redlock") ? p50(results, "floor async") : async;
      part(results, system, NETWORK, network);
      part(results, system, SCRIPTS, raw - network);
      part(results, system, CLIENT, async - raw);
      part(results, system, WAKE_UPS, p50(results, system) - async);
    }
  }

  private void part(Results results, String system, String part, double micros) {
    results.add(name(), system, part, "µs", micros);
  }

  private double p50(Results results, String label) {
    return results.figure(name(), label, "p50").orElseThrow().value();
  }
}
