package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.system.Peer;
import java.util.List;

/** One thread acquires and releases 64 names in turn, one pair after another. */
public final class Uncontended implements Scenario {
  @Override
  public String name() {
    return "uncontended";
  }

  @Override
  public void measure(Run run) throws Exception {
    List<Peer> peers = run.presentUnfair();
    Load load = Load.oneByOne(run.time(500, 3000));
    try (TestBed world = TestBed.start(5, peers)) {
      world.warmUp(load, run.time(800, 5000));
      for (int repeat = 0; repeat < run.times(5, 9); repeat++) {
        for (Peer peer : Run.rotated(peers, repeat)) {
          measure(run, world, peer, load);
        }
      }
    }
  }

  private void measure(Run run, TestBed world, Peer peer, Load load) throws Exception {
    Commands before = Commands.of(world.nodes());
    long bytes = Allocation.bytes();
    long cpu = Cpu.nanos();
    Slice slice = world.drive(peer, load);
    cpu = Cpu.nanos() - cpu;
    long allocated = Allocation.bytes() - bytes;
    run.percentiles(name(), peer, "", slice.pairTimes());
    run.add(name(), peer, "pairs/s", "1/s", slice.rate());
    double pairs = Math.max(1, slice.pairs());
    run.add(
        name(), peer, "commands/pair", "", Commands.of(world.nodes()).since(before).sent() / pairs);
    if (peer.runsHere()) {
      run.add(name(), peer, "bytes/pair", "B", allocated / pairs);
      run.add(name(), peer, "cpu/pair", "µs", cpu / 1e3 / pairs);
    }
    run.results().curve(name(), peer.label(), slice.pairTimes());
    run.complain(name(), peer, slice);
  }
}
