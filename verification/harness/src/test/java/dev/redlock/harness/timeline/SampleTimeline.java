package dev.redlock.harness.timeline;

import dev.redlock.harness.timeline.Timeline.Fault;
import dev.redlock.harness.timeline.Timeline.Hold;
import dev.redlock.harness.timeline.Timeline.HolderLane;
import dev.redlock.harness.timeline.Timeline.NodeLane;
import dev.redlock.harness.timeline.Timeline.Phase;
import dev.redlock.harness.timeline.Timeline.Rate;
import dev.redlock.harness.timeline.Timeline.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** An invented run that contains everything that a picture can show. It is the same each time. */
final class SampleTimeline {
  private static final long SECOND = 1_000_000_000L;
  private static final long MILLI = 1_000_000L;

  private SampleTimeline() {}

  static Timeline make() {
    Random random = new Random(42);
    long length = 30 * SECOND;
    List<List<Hold>> holds = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    List<Double> rate = new ArrayList<>();
    int lane = 0;
    long token = 1_795_250_000_000_000L;
    int sold = 0;
    long bucket = SECOND / 4;
    long at = 0;
    while (at < length - 20 * MILLI) {
      if (random.nextInt(3) == 0) {
        lane = random.nextInt(at > 14 * SECOND ? 2 : 3);
      }
      if (at > 21 * SECOND && at < 25 * SECOND) {
        lane = 0;
      }
      token += 3000 + random.nextInt(500);
      if (at > 14 * SECOND && sold > 0 && holds.get(2).stream().noneMatch(h -> h.token() < 0)) {
        long until = at + 3 * SECOND;
        holds.get(2).add(new Hold(at, at + 120 * MILLI, until, token, "killed in mid-sale"));
        holds.get(2).add(new Hold(until, until, until, -1, ""));
        at = until + 40 * MILLI;
      }
      long held = 2 * MILLI + random.nextInt((int) (3 * MILLI));
      holds.get(lane).add(Hold.released(at, at + held, token));
      sold++;
      at += held + 200_000 + random.nextInt(900_000);
      while ((rate.size() + 1) * bucket <= Math.min(at, length)) {
        rate.add(sold * 4.0);
        sold = 0;
      }
    }
    holds.get(2).removeIf(hold -> hold.token() < 0);
    List<HolderLane> holders =
        List.of(
            new HolderLane("worker 1", holds.get(0), List.of()),
            new HolderLane("worker 2", holds.get(1), List.of(phase(State.PAUSED, 21.0, 25.0))),
            new HolderLane("worker 3", holds.get(2), List.of(phase(State.DEAD, 14.12, 30.0))));
    Timeline.Builder timeline =
        Timeline.builder("Coupon shop: five masters, one lock", length)
            .verdict(true, "PASS")
            .fact("sold", "6,412")
            .fact("oversold", "0")
            .fact("wait p50", "14.2 ms")
            .rate(new Rate("sales/s", bucket, rate))
            .closeUp(CloseUp.liveliest(holders, 18))
            .note("Times are those of one monotonic clock that all processes of a host share.")
            .faults(
                List.of(
                    new Fault(3 * SECOND, "master 2 killed", "master 2"),
                    new Fault(6 * SECOND, "master 4 paused", "master 4"),
                    new Fault(10 * SECOND, "master 4 resumed", "master 4"),
                    new Fault(10 * SECOND + 400 * MILLI, "master 2 comes back <empty>", "master 2"),
                    new Fault(14 * SECOND + 120 * MILLI, "worker 3 killed", "worker 3"),
                    new Fault(21 * SECOND, "worker 2 paused", "worker 2")));
    timeline.holders(holders);
    for (int i = 1; i <= 5; i++) {
      timeline.nodes(List.of(new NodeLane("master " + i, phases(i))));
    }
    return timeline.build();
  }

  private static List<Phase> phases(int node) {
    return switch (node) {
      case 2 ->
          List.of(
              phase(State.VOTING, 0, 3),
              phase(State.DEAD, 3, 10.4),
              phase(State.CONNECTING, 10.4, 10.6),
              phase(State.QUARANTINED, 10.6, 17.4),
              phase(State.VOTING, 17.4, 30));
      case 4 ->
          List.of(
              phase(State.VOTING, 0, 6), phase(State.PAUSED, 6, 10), phase(State.VOTING, 10, 30));
      default -> List.of(phase(State.VOTING, 0, 30));
    };
  }

  private static Phase phase(State state, double fromSeconds, double toSeconds) {
    return new Phase(state, (long) (fromSeconds * 1e9), (long) (toSeconds * 1e9));
  }
}
