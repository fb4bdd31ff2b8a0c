package dev.redlock.examples.demo;

import dev.redlock.harness.timeline.CloseUp;
import dev.redlock.harness.timeline.Timeline;
import dev.redlock.harness.timeline.Timeline.Fault;
import dev.redlock.harness.timeline.Timeline.HolderLane;
import dev.redlock.harness.timeline.Timeline.NodeLane;
import dev.redlock.harness.timeline.Timeline.Phase;
import dev.redlock.harness.timeline.Timeline.Rate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Builds the picture of the run. */
final class ShopTimeline {
  private static final long BUCKET_NANOS = 250_000_000L;
  private static final int HOLDS_IN_CLOSE_UP = 24;

  private ShopTimeline() {}

  /** The holds of the lock by worker; without a lock, the sales by worker. */
  static List<HolderLane> holders(Ledger ledger, long endNanos) {
    List<HolderLane> lanes = new ArrayList<>();
    for (int worker = 1; worker <= Plan.WORKERS; worker++) {
      List<Phase> away =
          ledger.phases(worker).stream()
              .map(p -> new Phase(p.state(), p.fromNanos(), Math.min(p.toNanos(), endNanos)))
              .toList();
      lanes.add(new HolderLane("worker " + worker, ledger.holds(worker), away));
    }
    return lanes;
  }

  static Timeline of(
      Plan plan,
      Verdict verdict,
      Ledger ledger,
      List<HolderLane> holders,
      List<NodeLane> nodes,
      List<Fault> faults,
      long endNanos) {
    boolean locked = plan.locked();
    Timeline.Builder timeline =
        Timeline.builder(
                locked
                    ? "Coupon shop: three processes, one lock on five masters"
                    : "Coupon shop without a lock",
                endNanos)
            .verdict(verdict.exitCode() == 0, verdict.word())
            .rate(new Rate("sales/s", BUCKET_NANOS, perSecond(ledger, endNanos)))
            .closeUp(CloseUp.liveliest(holders, HOLDS_IN_CLOSE_UP))
            .faults(faults);
    for (Verdict.Figure figure : verdict.figures()) {
      timeline.fact(label(figure.key()), readable(figure.value()));
    }
    timeline.holdersLabel(locked ? "holders of the lock" : "sales");
    timeline.holders(holders).nodes(nodes);
    verdict.complaints().forEach(timeline::note);
    return timeline
        .note(
            "All times are from the monotonic clock that the processes of this host share. "
                + (locked
                    ? "A hold lasts from the grant of the lock until the worker started to release"
                        + " it, or until its validity ended."
                    : "A sale lasts from its read of the stock until its write."))
        .build();
  }

  private static String label(String key) {
    return switch (key) {
      case "waits p50" -> "wait p50";
      case "p99", "max" -> "wait " + key;
      default -> key.replace('-', ' ');
    };
  }

  private static String readable(String value) {
    return value.replaceFirst("(?<=\\d)(m?s)$", " $1");
  }

  private static List<Double> perSecond(Ledger ledger, long endNanos) {
    int buckets = (int) ((endNanos + BUCKET_NANOS - 1) / BUCKET_NANOS);
    List<Double> values = new ArrayList<>(Collections.nCopies(buckets, 0.0));
    for (long at : ledger.soldAtNanos()) {
      int bucket = (int) (at / BUCKET_NANOS);
      if (bucket >= 0 && bucket < buckets) {
        long lengthNanos = Math.min(BUCKET_NANOS, endNanos - bucket * BUCKET_NANOS);
        values.set(bucket, values.get(bucket) + 1e9 / lengthNanos);
      }
    }
    return values;
  }
}
