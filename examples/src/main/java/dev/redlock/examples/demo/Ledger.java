package dev.redlock.examples.demo;

import dev.redlock.examples.demo.Sale.Outcome;
import dev.redlock.harness.timeline.Timeline.Hold;
import dev.redlock.harness.timeline.Timeline.Phase;
import dev.redlock.harness.timeline.Timeline.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** The reports of the workers and the faults that hit them. Safe from any thread. */
final class Ledger {
  /**
   * A worker reports a sale after its hold. A worker that reported within this time is shown as the
   * holder.
   */
  private static final long HOLDS_LATELY_NANOS = 100_000_000L;

  private final RunClock clock;
  private final List<Sale> sales = new ArrayList<>();
  private final List<String> refusals = new ArrayList<>();
  private final List<Cut> cuts = new ArrayList<>();
  private final List<Stuck> stuck = new ArrayList<>();
  private final List<List<Phase>> phases = new ArrayList<>();

  /** A worker that stopped during a sale because the shop told it to. */
  record Stuck(int worker, long token, long fromNanos, long untilNanos) {}

  /** A hold that ended because its process was killed. */
  private record Cut(Stuck hold, long atNanos) {}

  Ledger(RunClock clock) {
    this.clock = clock;
    for (int i = 0; i < Plan.WORKERS; i++) {
      phases.add(new ArrayList<>());
    }
  }

  synchronized void accept(int worker, Message message) {
    switch (message.type()) {
      case "sale" -> sales.add(Sale.of(worker, message));
      case "stuck" ->
          stuck.add(
              new Stuck(
                  worker,
                  message.number("token"),
                  message.number("from"),
                  message.number("until")));
      case "refused" -> refusals.add("worker " + worker + ": " + message.text("why"));
      default ->
          throw new IllegalArgumentException(
              "worker " + worker + " sent an unknown message: " + message);
    }
  }

  /** The sale during which this worker stopped; empty until it has stopped. */
  synchronized Optional<Stuck> stuck(int worker) {
    return stuck.stream().filter(one -> one.worker() == worker).findFirst();
  }

  /** Records that the worker was killed during a sale. */
  synchronized void cut(Stuck hold, long atNanos) {
    cuts.add(new Cut(hold, atNanos));
  }

  /** Records that the worker was paused or dead between two times of the run. */
  synchronized void away(int worker, State state, long fromNanos, long toNanos) {
    phases.get(worker - 1).add(new Phase(state, fromNanos, toNanos));
  }

  synchronized List<Phase> phases(int worker) {
    return List.copyOf(phases.get(worker - 1));
  }

  synchronized int count(Outcome outcome) {
    return (int) sales.stream().filter(sale -> sale.outcome() == outcome).count();
  }

  synchronized List<String> refusals() {
    return List.copyOf(refusals);
  }

  /** The worker whose sale was reported last; 0 before the first. */
  synchronized int latestHolder() {
    return sales.isEmpty() ? 0 : sales.get(sales.size() - 1).worker();
  }

  /** Describes the holder of the lock: the worker that sold last, or a stuck one. */
  synchronized String holder() {
    long now = System.nanoTime();
    for (Stuck one : stuck) {
      if (one.untilNanos() > now) {
        return "worker "
            + one.worker()
            + " stuck, lease "
            + Masters.upToSeconds(Duration.ofNanos(one.untilNanos() - now));
      }
    }
    boolean lately =
        !sales.isEmpty() && now - sales.get(sales.size() - 1).toNanos() < HOLDS_LATELY_NANOS;
    return lately ? "worker " + latestHolder() + " holds" : "no holder";
  }

  synchronized List<Long> waitsNanos() {
    return sales.stream().map(Sale::waitedNanos).toList();
  }

  /** All holds of one worker, in times of the run. */
  synchronized List<Hold> holds(int worker) {
    List<Hold> holds = new ArrayList<>();
    for (Sale sale : sales) {
      if (sale.worker() == worker) {
        long from = clock.of(sale.fromNanos());
        long to = clock.of(sale.toNanos());
        String note = sale.outcome() == Outcome.SOLD ? "" : "its write was rejected";
        holds.add(new Hold(from, to, to, sale.token(), note));
      }
    }
    for (Cut cut : cuts) {
      if (cut.hold().worker() == worker) {
        long from = clock.of(cut.hold().fromNanos());
        long kept = Math.max(cut.atNanos(), clock.of(cut.hold().untilNanos()));
        holds.add(new Hold(from, cut.atNanos(), kept, cut.hold().token(), "killed during a sale"));
      }
    }
    return holds;
  }

  /** The times of all sales, in order. */
  synchronized List<Long> soldAtNanos() {
    return sales.stream()
        .filter(sale -> sale.outcome() == Outcome.SOLD)
        .map(sale -> clock.of(sale.toNanos()))
        .sorted(Comparator.naturalOrder())
        .toList();
  }

  /** The longest time without a sale, from the first sale to the end. */
  Duration longestGap(long endNanos) {
    long longest = 0;
    long last = 0;
    for (long at : soldAtNanos()) {
      longest = Math.max(longest, at - last);
      last = at;
    }
    return Duration.ofNanos(Math.max(longest, endNanos - last));
  }
}
