package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.system.Contender;
import dev.redlock.bench.system.JvmContender;
import dev.redlock.bench.system.Peer;
import dev.redlock.bench.system.RedlockClient;
import dev.redlock.bench.system.Waiting;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import java.util.List;

/**
 * Pairs one after another while one or two of five masters do not reply ({@code hung}) or are dead
 * ({@code killed}). {@code hung} is with one of five masters, {@code hung-2} with two. Locks that
 * need every master, or the affected one, are not measured.
 */
public final class Hung implements Scenario {
  private final boolean kill;

  private Hung(boolean kill) {
    this.kill = kill;
  }

  /** Stops masters. */
  public static Hung paused() {
    return new Hung(false);
  }

  /** Kills masters. */
  public static Hung killed() {
    return new Hung(true);
  }

  @Override
  public String name() {
    return kill ? "killed" : "hung";
  }

  @Override
  public void measure(Run run) throws Exception {
    List<Peer> peers =
        run.present(
            Peer.REDLOCK,
            Peer.REDLOCK_MAJORITY,
            Peer.FLOOR,
            Peer.NODE_REDLOCK,
            Peer.REDISSON_REDLOCK);
    if (run.quick() && peers.contains(Peer.REDISSON_REDLOCK)) {
      run.results()
          .remark(
              "RedissonRedLock with killed masters, or two hung, only in a full run: 10 to 20 s a"
                  + " pair");
      if (kill) {
        peers.remove(Peer.REDISSON_REDLOCK);
      }
    }
    Load load = Load.oneByOne(run.time(400, 2000));
    int repeats = run.times(2, 5);
    try (TestBed world = TestBed.start(5, peers)) {
      world.warmUp(load, run.time(1000, 3000));
      for (int repeat = 0; repeat < repeats; repeat++) {
        for (Peer peer : peers) {
          boolean slow = peer == Peer.REDISSON_REDLOCK;
          if (!slow || repeat == 0) {
            withFaults(
                run,
                world,
                peer,
                slow ? load.lasting(Duration.ofMinutes(1)).atMost(2) : load,
                slow && run.quick() ? 1 : 2);
          }
        }
      }
    }
  }

  /**
   * Measures with no fault, then one, then two. Pairs for which Redisson needs seconds run twice
   * only.
   */
  private void withFaults(Run run, TestBed world, Peer peer, Load load, int mostFaults)
      throws Exception {
    Slice healthy = world.drive(peer, Load.oneByOne(run.time(400, 2000)));
    run.percentiles(name(), peer, "healthy-", healthy.pairTimes());
    try {
      for (int faults = 1; faults <= mostFaults; faults++) {
        harm(world.nodes().get(faults + 1));
        measure(run, world, peer, faults == 1 ? name() : name() + "-2", load, healthy);
      }
    } finally {
      endFaults(world);
    }
  }

  private void measure(Run run, TestBed world, Peer peer, String scenario, Load load, Slice healthy)
      throws Exception {
    Slice slice = world.drive(peer, load);
    run.say("%s %s: %d pairs".formatted(scenario, peer.label(), slice.pairs()));
    run.percentiles(scenario, peer, "", slice.pairTimes());
    run.results().curve(scenario, peer.label(), slice.pairTimes());
    if (peer == Peer.REDLOCK) {
      // Needed for the ratio of hung to healthy in the ratio lines.
      run.results()
          .add(
              scenario, "healthy", "p50", "µs", healthy.pairTimes().getValueAtPercentile(50) / 1e3);
      run.results()
          .add(
              scenario, "healthy", "p99", "µs", healthy.pairTimes().getValueAtPercentile(99) / 1e3);
    }
    run.complain(scenario, peer, slice);
  }

  private void harm(RedisNode node) {
    if (kill) {
      node.kill();
    } else {
      node.pause();
    }
  }

  private void endFaults(TestBed world) {
    world.nodes().endFaults();
    for (Peer peer : world.peers()) {
      Contender contender = world.contender(peer);
      if (contender instanceof JvmContender jvm && jvm.client() instanceof RedlockClient ours) {
        RedlockClient.awaitVotes(ours.redlock());
      } else if (kill && peer == Peer.FLOOR) {
        world.connect(peer); // The floor does not reconnect, by design.
      }
    }
    Waiting.pause(
        Duration.ofMillis(
            200)); // The resumed masters first execute the requests that arrived meanwhile.
  }
}
