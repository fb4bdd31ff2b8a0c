package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Competition;
import dev.redlock.bench.load.Observed;
import dev.redlock.bench.load.Turns;
import dev.redlock.bench.report.Results.Chart;
import dev.redlock.bench.system.Crowd;
import dev.redlock.bench.system.Peer;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import org.HdrHistogram.Histogram;

/**
 * Many clients with connections of their own that want one name, one caller each. A caller holds
 * the name for 5 ms, releases it, and asks again after 1 ms. {@code crowd} is with 100 clients;
 * other names contain the number. The first grants, as many as there are clients, are not measured:
 * all callers arrive at the same time at the beginning. {@code crowd-dead-…} is with processes that
 * died while they waited; see {@link DeadWaiters}.
 */
public final class Crowds implements Scenario {
  private static final int HEADLINE = 100;
  private static final Duration HOLD = Duration.ofMillis(5);
  private static final Duration PAUSE = Duration.ofMillis(1);

  /** Callers that ask within this time may reach the nodes in another order. */
  private static final long TOLERANCE_NANOS = 1_000_000;

  private static final Chart COST =
      new Chart("crowd", "executed-per-grant", "clients", "commands, on all nodes");
  private static final Chart HAND_OVER = new Chart("crowd", "hand-over", "clients", "ms, p50");

  @Override
  public String name() {
    return "crowd";
  }

  @Override
  public void measure(Run run) throws Exception {
    List<Peer> peers =
        run.present(
            Peer.REDLOCK,
            Peer.REDLOCK_FAIR,
            Peer.REDLOCK_MAJORITY,
            Peer.REDISSON_REDLOCK,
            Peer.REDISSON_RLOCK,
            Peer.SPRING_LOCKREGISTRY,
            Peer.NODE_REDLOCK);
    if (run.quick()) {
      peers.remove(Peer.SPRING_LOCKREGISTRY);
    }
    for (Peer peer : peers) {
      warmUp(run, peer);
      if (peer == Peer.REDLOCK || peer == Peer.REDLOCK_FAIR) {
        new DeadWaiters(run, peer).measure();
      }
      for (int clients : new int[] {5, 20, HEADLINE, 300}) {
        if (clients <= most(peer) && !measure(run, peer, clients)) {
          run.results()
              .remark(
                  name()
                      + ": "
                      + peer.label()
                      + " was too slow with "
                      + clients
                      + " clients to be measured with more");
          break;
        }
      }
    }
  }

  private static void warmUp(Run run, Peer peer) throws Exception {
    try (RedisNodes nodes = RedisNodes.start(5);
        Crowd crowd = peer.crowd(nodes.uris(), 20)) {
      crowd.compete(competition(20, 0, 1000, run.time(2500, 10_000)), () -> {});
      Cpu.awaitIdle();
    }
  }

  /** With more clients, other systems need more threads or connections than this machine has. */
  private static int most(Peer peer) {
    return peer.isOurs() ? 300 : HEADLINE;
  }

  /** Each caller gets several turns, and enough of them that an unfair share is seen. */
  private static int grants(Run run, int clients) {
    int grants =
        switch (clients) {
          case 5 -> 300;
          case 20 -> 500;
          case HEADLINE -> 2000;
          default -> 900;
        };
    return run.quick() ? grants : 3 * grants;
  }

  /** Returns whether the system was fast enough to be measured with more clients. */
  private boolean measure(Run run, Peer peer, int clients) throws Exception {
    int grants = grants(run, clients);
    boolean ours = peer.isOurs();
    Duration time = run.time(ours ? 22_000 : 7000, 120_000);
    List<Edge> edges = new ArrayList<>();
    // New masters: names and fences of the system before cost the next one nothing.
    try (RedisNodes nodes = RedisNodes.start(5);
        Crowd crowd = peer.crowd(nodes.uris(), clients)) {
      Observed observed =
          crowd.compete(
              competition(clients, clients, grants, time), () -> edges.add(Edge.of(nodes, crowd)));
      Turns turns = Turns.between(observed.sections(), edges.get(0).nanos(), edges.get(1).nanos());
      add(run, peer, clients, turns, edges);
      run.complain(scenario(clients), peer.label(), turns.overlaps(), observed);
      return turns.grants() > grants / 2 || !ours;
    }
  }

  private static Competition competition(int clients, int warmUp, int grants, Duration time) {
    return new Competition(clients, 1, 1, HOLD, PAUSE, warmUp, grants, time);
  }

  /** What was counted until the beginning or the end of a measurement. */
  private record Edge(long nanos, Commands commands, OptionalLong invalidations) {
    static Edge of(RedisNodes nodes, Crowd crowd) {
      OptionalLong invalidations = crowd.invalidations();
      return new Edge(System.nanoTime(), Commands.of(nodes), invalidations);
    }
  }

  private String scenario(int clients) {
    return clients == HEADLINE ? name() : name() + "-" + clients;
  }

  private void add(Run run, Peer peer, int clients, Turns turns, List<Edge> edges) {
    String scenario = scenario(clients);
    String system = peer.label();
    Edge from = edges.get(0);
    Edge until = edges.get(1);
    double grants = Math.max(1, turns.grants());
    Commands used = until.commands().since(from.commands());
    run.add(scenario, peer, "grants", "", turns.grants());
    run.add(scenario, peer, "commands/grant", "", used.sent() / grants);
    run.add(scenario, peer, "executed/grant", "", used.executed() / grants);
    if (until.invalidations().isPresent()) {
      double invalidations = until.invalidations().getAsLong() - from.invalidations().orElse(0);
      run.add(scenario, peer, "invalidations/grant", "", invalidations / grants);
    }
    Histogram handOvers = turns.handOvers();
    double p50 = handOvers.getValueAtPercentile(50) / 1e6;
    run.add(scenario, peer, "hand-over-p50", "ms", p50);
    run.add(scenario, peer, "hand-over-p95", "ms", handOvers.getValueAtPercentile(95) / 1e6);
    List<Long> shares = turns.perCaller(clients);
    run.add(scenario, peer, "least-share", "", Collections.min(shares) * clients / grants);
    run.add(scenario, peer, "most-share", "", Collections.max(shares) * clients / grants);
    run.add(
        scenario, peer, "overtakings/1000", "", turns.overtakings(TOLERANCE_NANOS) * 1000 / grants);
    run.results().point(COST, system, clients, used.executed() / grants);
    run.results().point(HAND_OVER, system, clients, p50);
    run.results().curve(scenario, system, handOvers);
    run.say(
        "bench: %s %s: %d grants, %.0f commands per grant, hand-over %.1f ms"
            .formatted(scenario, system, turns.grants(), used.executed() / grants, p50));
  }
}
