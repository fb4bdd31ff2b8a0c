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
 * Threads of one process that lock one name. {@code contended-local} is with 8 threads; other names
 * contain the number. The floor has no queue. It is measured with consecutive rounds of one thread,
 * each of which takes the lock over from the round before; that is the lowest possible cost of a
 * section.
 */
public final class ContendedLocal implements Scenario {
  private static final int HEADLINE = 8;

  @Override
  public String name() {
    return "contended-local";
  }

  @Override
  public void measure(Run run) throws Exception {
    List<Peer> peers = run.presentUnfair();
    peers.removeAll(List.of(Peer.BARE, Peer.FLOOR_MAJORITY)); // They have no hand-off.
    Duration time = run.time(500, 3000);
    try (TestBed world = TestBed.start(5, peers)) {
      for (Peer peer : peers) {
        drive(world, peer, Load.contended(HEADLINE, run.time(700, 3000)));
      }
      for (int repeat = 0; repeat < run.times(3, 5); repeat++) {
        for (int threads : new int[] {HEADLINE, 2, 64}) {
          for (Peer peer : Run.rotated(peers, repeat)) {
            boolean others = threads == HEADLINE || !run.quick() || peer.isOurs();
            if (others && (threads == HEADLINE || peer != Peer.FLOOR)) {
              measure(run, world, peer, Load.contended(threads, time));
            }
          }
        }
      }
    }
  }

  private void measure(Run run, TestBed world, Peer peer, Load load) throws Exception {
    String scenario = load.workers() == HEADLINE ? name() : name() + "-" + load.workers();
    Commands before = Commands.of(world.nodes());
    Slice slice = drive(world, peer, load);
    run.sections(scenario, peer.label(), slice, Commands.of(world.nodes()).since(before));
    run.percentiles(scenario, peer, "hand-over-", slice.gaps());
    run.percentiles(scenario, peer, "wait-", slice.waits());
    run.results().curve(scenario, peer.label(), slice.gaps());
  }

  private static Slice drive(TestBed world, Peer peer, Load load) throws Exception {
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
