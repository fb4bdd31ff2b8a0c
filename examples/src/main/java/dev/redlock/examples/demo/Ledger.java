package dev.redlock.examples.demo;

import dev.redlock.examples.demo.Sale.Outcome;
import dev.redlock.testkit.timeline.Timeline.Hold;
import dev.redlock.testkit.timeline.Timeline.Phase;
import dev.redlock.testkit.timeline.Timeline.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** What the workers reported, and what was done to them. Safe from any thread. */
final class Ledger {
  /** Reports come after the hold; who reported within this time is as good as the holder. */
  private static final long HOLDS_LATELY_NANOS = 100_000_000L;

  private final RunClock clock;
  private final List<Sale> sales = new ArrayList<>();
  private final List<String> refusals = new ArrayList<>();
  private final List<Cut> cuts = new ArrayList<>();
  private final List<Stuck> stuck = new ArrayList<>();
  private final List<List<Phase>> phases = new ArrayList<>();

  /** A worker that was told to stop in the middle of a sale, and did. */
  record Stuck(int worker, long token, long fromNanos, long untilNanos) {}

  /** A hold that ended with its process. */
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
      default -> throw new IllegalArgumentException("worker " + worker + " said " + message);
    }
  }

  /** The sale in which this worker stopped as told; empty until it has. */
  synchronized Optional<Stuck> stuck(int worker) {
    return stuck.stream().filter(one -> one.worker() == worker).findFirst();
  }

  /** The worker was killed in the middle of a sale. */
  synchronized void cut(Stuck hold, long atNanos) {
    cuts.add(new Cut(hold, atNanos));
  }

  /** The worker was paused, or dead, from one time of the run to another. */
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

  /** Who holds the lock, for people: who sold last, or who will never sell again. */
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
    return lately ? "worker " + latestHolder() + " holds" : "nobody holds";
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
        String note = sale.outcome() == Outcome.SOLD ? "" : "its write was refused";
        holds.add(new Hold(from, to, to, sale.token(), note));
      }
    }
    for (Cut cut : cuts) {
      if (cut.hold().worker() == worker) {
        long from = clock.of(cut.hold().fromNanos());
        long kept = Math.max(cut.atNanos(), clock.of(cut.hold().untilNanos()));
        holds.add(new Hold(from, cut.atNanos(), kept, cut.hold().token(), "killed in mid-sale"));
      }
    }
    return holds;
  }

  /** When something was sold, in times of the run, in order. */
  synchronized List<Long> soldAtNanos() {
    return sales.stream()
        .filter(sale -> sale.outcome() == Outcome.SOLD)
        .map(sale -> clock.of(sale.toNanos()))
        .sorted(Comparator.naturalOrder())
        .toList();
  }

  /** The longest time without a sale, from the opening to the end. */
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
