package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Load.Mode;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.load.VirtualThreads;
import dev.redlock.bench.system.Peer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Many pairs in flight, each on its own name. For this library and the floor, {@code pairs/s} is
 * the figure with 256 futures in flight; for every other system it is the best figure of all loads.
 */
public final class Throughput implements Scenario {
  private static final Mode HEADLINE = Mode.ASYNC;
  private static final int HEADLINE_WORKERS = 256;

  @Override
  public String name() {
    return "throughput";
  }

  @Override
  public void measure(Run run) throws Exception {
    List<Peer> peers = run.presentUnfair();
    if (!VirtualThreads.areThere()) {
      run.results().remark("throughput: no virtual threads on JDK " + Runtime.version().feature());
    }
    Duration time = run.time(300, 2000);
    try (TestBed world = TestBed.start(5, peers)) {
      world.warmUp(Load.spread(Mode.ASYNC, 256, time), run.time(800, 5000));
      world.warmUp(Load.spread(Mode.THREADS, 16, time), run.time(300, 3000));
      for (int repeat = 0; repeat < run.times(3, 5); repeat++) {
        Map<Peer, Double> best = new EnumMap<>(Peer.class);
        for (Load load : loads(run, time)) {
          for (Peer peer : Run.rotated(peers, repeat)) {
            if (world.contender(peer).can(load) && isMeasured(run, peer, load)) {
              measure(run, world, peer, load, best);
            }
          }
        }
        best.forEach((peer, rate) -> run.add(name(), peer, "pairs/s", "1/s", rate));
      }
    }
  }

  private static List<Load> loads(Run run, Duration time) {
    List<Load> loads = new ArrayList<>();
    for (int workers : new int[] {1, 16, 64, 256, 1024}) {
      loads.add(Load.spread(Mode.ASYNC, workers, time));
    }
    for (int workers : run.quick() ? new int[] {16, 64} : new int[] {1, 16, 64, 256, 1024}) {
      loads.add(Load.spread(Mode.THREADS, workers, time));
      if (VirtualThreads.areThere()) {
        loads.add(Load.spread(Mode.VIRTUAL, workers, time));
      }
    }
    return loads;
  }

  /**
   * In a quick run, other systems are measured only under loads at which they are fastest, or
   * nearly so.
   */
  private static boolean isMeasured(Run run, Peer peer, Load load) {
    if (!run.quick() || peer.isOurs() || !peer.waits()) {
      return !run.quick() || load.workers() > 1;
    }
    return load.workers() == (load.mode() == Mode.ASYNC ? 64 : 16);
  }

  private void measure(Run run, TestBed world, Peer peer, Load load, Map<Peer, Double> best)
      throws Exception {
    long cpu = Cpu.nanos();
    Slice slice = world.drive(peer, load);
    cpu = Cpu.nanos() - cpu;
    run.add(
        name(),
        peer,
        load.mode().name().toLowerCase(Locale.ROOT) + "-" + load.workers(),
        "1/s",
        slice.rate());
    boolean headline = load.mode() == HEADLINE && load.workers() == HEADLINE_WORKERS;
    if (!peer.isOurs() && peer.waits()) {
      best.merge(peer, slice.rate(), Math::max);
    } else if (headline) {
      best.put(peer, slice.rate());
    }
    if (headline) {
      if (peer.runsHere()) {
        run.add(name(), peer, "cpu/pair", "µs", cpu / 1e3 / Math.max(1, slice.pairs()));
      }
      run.results().curve(name(), peer.label(), slice.pairTimes());
    }
    run.complain(name(), peer, slice);
  }
}
