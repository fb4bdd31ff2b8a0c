package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.system.FloorClient;
import dev.redlock.bench.system.Held;
import dev.redlock.bench.system.JvmContender;
import dev.redlock.bench.system.Peer;
import java.time.Duration;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Threads of one process that all want one name. {@code contended-local} is with 8 of them; the
 * number stands behind the name otherwise. The floor has no queue: what it is measured at is one
 * round after another by one thread, each of which takes the lock from the round before, which is
 * the least that a section can cost.
 */
public final class ContendedLocal implements Scenario {
  private static final int HEADLINE = 8;

  @Override
  public String name() {
    return "contended-local";
  }

  @Override
  public void measure(Run run) throws Exception {
    List<Peer> peers =
        run.present(
            Peer.REDLOCK,
            Peer.FLOOR,
            Peer.REDISSON_REDLOCK,
            Peer.REDISSON_MULTILOCK,
            Peer.REDISSON_RLOCK,
            Peer.SPRING_LOCKREGISTRY,
            Peer.NODE_REDLOCK);
    Duration time = run.time(500, 3000);
    try (World world = World.start(5, peers)) {
      for (Peer peer : peers) {
        drive(world, peer, Load.contended(HEADLINE, run.time(700, 3000)));
      }
      for (int repeat = 0; repeat < run.times(4, 5); repeat++) {
        for (int threads : new int[] {HEADLINE, 2, 64}) {
          for (Peer peer : Run.rotated(peers, repeat)) {
            boolean others = threads == HEADLINE || !run.quick() || peer == Peer.REDLOCK;
            if (others && (threads == HEADLINE || peer != Peer.FLOOR)) {
              measure(run, world, peer, Load.contended(threads, time));
            }
          }
        }
      }
    }
  }

  private void measure(Run run, World world, Peer peer, Load load) throws Exception {
    String scenario = load.workers() == HEADLINE ? name() : name() + "-" + load.workers();
    long commands = Commands.sent(world.nodes());
    long executed = Commands.executed(world.nodes());
    Slice slice = drive(world, peer, load);
    executed = Commands.executed(world.nodes()) - executed;
    double sections = Math.max(1, slice.pairs());
    run.add(scenario, peer, "sections/s", "1/s", slice.rate());
    run.percentiles(scenario, peer, "hand-over-", slice.gaps());
    run.percentiles(scenario, peer, "wait-", slice.waits());
    run.add(
        scenario,
        peer,
        "commands/section",
        "",
        (Commands.sent(world.nodes()) - commands) / sections);
    run.add(scenario, peer, "executed/section", "", executed / sections);
    if (peer != Peer.FLOOR) {
      run.add(scenario, peer, "least-share", "", slice.leastShare());
      run.add(scenario, peer, "most-share", "", slice.mostShare());
    }
    run.results().curve(scenario, peer.label(), slice.gaps());
    run.complain(scenario, peer, slice);
  }

  private static Slice drive(World world, Peer peer, Load load) throws Exception {
    return peer == Peer.FLOOR
        ? rounds((FloorClient) ((JvmContender) world.contender(peer)).client(), load)
        : world.drive(peer, load);
  }

  private static Slice rounds(FloorClient floor, Load load) throws Exception {
    Histogram times = Drive.histogram();
    long start = System.nanoTime();
    Held held = floor.acquire(load.name(0, 0));
    long rounds = 0;
    long at = System.nanoTime();
    while (at - start < load.time().toNanos()) {
      held = floor.handOver(held).get();
      long now = System.nanoTime();
      times.recordValue(now - at);
      at = now;
      rounds++;
    }
    held.release();
    return new Slice(at - start, times, times, times, List.of(rounds), 0, 0, null);
  }
}
