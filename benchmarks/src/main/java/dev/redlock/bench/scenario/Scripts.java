package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.system.FloorClient;
import dev.redlock.bench.system.FloorClient.Step;
import dev.redlock.bench.system.LockClient;
import dev.redlock.bench.system.Peer;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What one pair costs one server: the time in which it executes commands, and its processor time,
 * which includes reading and writing. 64 pairs are in flight on one master, as a server of several
 * clients has them.
 */
public final class Scripts implements Scenario {
  private static final int IN_FLIGHT = 64;

  @Override
  public String name() {
    return "scripts";
  }

  /** Both in µs. */
  private record Cost(double commands, double processor) {}

  @Override
  public void measure(Run run) throws Exception {
    if (run.present(Peer.REDLOCK).isEmpty()) {
      return;
    }
    Load load = Load.spread(Load.Mode.ASYNC, IN_FLIGHT, run.time(400, 2000));
    Map<String, LockClient> clients = new LinkedHashMap<>();
    try (RedisNodes nodes = RedisNodes.start(1)) {
      try {
        clients.put("redlock", Peer.REDLOCK.connect(nodes.uris()));
        for (Step step : Step.values()) {
          String label = step.name().toLowerCase(Locale.ROOT).replace('_', '-');
          clients.put(label, FloorClient.connect(nodes.uris(), step));
        }
        for (LockClient client : clients.values()) {
          Drive.run(client, load);
        }
        for (int repeat = 0; repeat < run.times(8, 12); repeat++) {
          for (var client : Run.rotated(List.copyOf(clients.entrySet()), repeat)) {
            measure(run, nodes.get(0), client.getKey(), client.getValue(), load);
          }
        }
      } finally {
        List.copyOf(clients.values()).forEach(LockClient::close);
      }
    }
  }

  private void measure(Run run, RedisNode node, String label, LockClient client, Load load)
      throws InterruptedException {
    // The server counts the commands of a script a second time under their own names.
    Set<String> sent = label.equals("bare") ? Set.of("set", "evalsha") : Set.of("evalsha", "ping");
    Cost before = cost(node, sent);
    Slice slice = Drive.run(client, load);
    Cost after = cost(node, sent);
    double pairs = Math.max(1, slice.pairs());
    run.results()
        .add(name(), label, "commands-µs/pair", "µs", (after.commands - before.commands) / pairs);
    run.results()
        .add(
            name(), label, "processor-µs/pair", "µs", (after.processor - before.processor) / pairs);
    run.complain(name(), label, slice);
  }

  private static Cost cost(RedisNode node, Set<String> sent) {
    double commands = 0;
    for (String line : String.valueOf(node.command("INFO", "commandstats")).lines().toList()) {
      int from = line.indexOf(",usec=");
      if (from > 0 && sent.contains(line.substring("cmdstat_".length(), line.indexOf(':')))) {
        commands += Double.parseDouble(line.substring(from + 6, line.indexOf(',', from + 1)));
      }
    }
    return new Cost(commands, Cpu.microsOf(node));
  }
}
