package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.system.Peer;
import java.util.ArrayList;
import java.util.List;

/** The cost of a pair by the number of masters; {@code nodes-N} is the scenario with N masters. */
public final class NodeCounts implements Scenario {
  @Override
  public String name() {
    return "nodes";
  }

  @Override
  public void measure(Run run) throws Exception {
    List<Peer> peers =
        run.present(Peer.REDLOCK, Peer.REDLOCK_MAJORITY, Peer.FLOOR, Peer.REDISSON_REDLOCK);
    Load load = Load.oneByOne(run.time(250, 2000));
    List<TestBed> worlds = new ArrayList<>();
    try {
      for (int count = 1; count <= 9; count += 2) {
        TestBed world = TestBed.start(count, peers);
        worlds.add(world);
        world.warmUp(load, run.time(250, 1000));
      }
      for (int repeat = 0; repeat < run.times(2, 5); repeat++) {
        for (TestBed world : worlds) {
          for (Peer peer : Run.rotated(peers, repeat)) {
            String scenario = name() + "-" + world.nodes().size();
            Commands before = Commands.of(world.nodes());
            Slice slice = world.drive(peer, load);
            double sent = Commands.of(world.nodes()).since(before).sent();
            run.add(scenario, peer, "commands/pair", "", sent / Math.max(1, slice.pairs()));
            run.percentiles(scenario, peer, "", slice.pairTimes());
            run.add(scenario, peer, "pairs/s", "1/s", slice.rate());
            run.complain(scenario, peer, slice);
          }
        }
      }
    } finally {
      worlds.forEach(TestBed::close);
    }
  }
}
