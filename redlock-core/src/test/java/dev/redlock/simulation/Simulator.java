package dev.redlock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** Runs seeds. */
final class Simulator {
  private Simulator() {}

  /** What came of one seed; the violation is null if there was none. */
  record Result(long seed, long events, long digest, Throwable violation, World world) {}

  static Result run(long seed, Scenario.Setting setting, boolean tracing) {
    World world = new World(seed, setting, tracing);
    Throwable violation = null;
    try {
      world.run();
    } catch (Violation
        | IllegalStateException
        | NullPointerException
        | ClassCastException
        | IndexOutOfBoundsException
        | IllegalArgumentException
        | AssertionError e) {
      violation = e;
      world.row("checker", "VIOLATION " + e);
    }
    return new Result(seed, world.events, world.history.digest(), violation, world);
  }

  /** The sum of many seeds. */
  static final class Tally {
    final AtomicLong next = new AtomicLong();
    final LongAdder seeds = new LongAdder();
    final LongAdder events = new LongAdder();
    final LongAdder grants = new LongAdder();
    final LongAdder extensions = new LongAdder();
    final LongAdder handOffs = new LongAdder();
    final LongAdder digests = new LongAdder();
    final List<Result> violations = new ArrayList<>();
    final AtomicBoolean stop = new AtomicBoolean();
  }

  static Tally runAll(
      long first, long count, Scenario.Setting setting, int threads, int mostViolations) {
    Tally tally = new Tally();
    tally.next.set(first);
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Thread t =
          new Thread(() -> work(tally, first + count, setting, mostViolations), "simulate-" + i);
      workers.add(t);
      t.start();
    }
    for (Thread t : workers) {
      try {
        t.join();
      } catch (InterruptedException e) {
        tally.stop.set(true);
        Thread.currentThread().interrupt();
      }
    }
    return tally;
  }

  private static void work(Tally tally, long end, Scenario.Setting setting, int mostViolations) {
    while (!tally.stop.get()) {
      long seed = tally.next.getAndIncrement();
      if (seed >= end) {
        return;
      }
      Result result = run(seed, setting, false);
      tally.seeds.increment();
      tally.events.add(result.events());
      tally.grants.add(result.world().checker.grants);
      tally.extensions.add(result.world().checker.extensions);
      tally.handOffs.add(result.world().checker.handOffs);
      tally.digests.add(result.digest());
      if (result.violation() != null) {
        synchronized (tally.violations) {
          tally.violations.add(result);
          if (tally.violations.size() >= mostViolations) {
            tally.stop.set(true);
          }
        }
      }
    }
  }

  public static void main(String[] args) {
    Scenario.Setting setting = Scenario.Setting.NORMAL;
    if (args[0].equals("seed")) {
      Result r =
          run(
              Long.parseLong(args[1]),
              args.length > 2 ? Scenario.Setting.valueOf(args[2]) : setting,
              true);
      StringBuilder out = new StringBuilder();
      r.world().scenario.describe().forEach(line -> out.append(line).append('\n'));
      r.world().history.print(out);
      System.out.print(out);
      System.out.println(
          "seed="
              + r.seed()
              + " events="
              + r.events()
              + " digest="
              + Long.toHexString(r.digest())
              + " "
              + r.violation());
      if (r.violation() != null && !(r.violation() instanceof Violation))
        r.violation().printStackTrace(System.out);
      return;
    }
    long t0 = System.nanoTime();
    Tally t =
        runAll(
            Long.parseLong(args[0]),
            Long.parseLong(args[1]),
            args.length > 3 ? Scenario.Setting.valueOf(args[3]) : setting,
            2,
            Integer.parseInt(args[2]));
    double s = (System.nanoTime() - t0) / 1e9;
    java.util.TreeMap<String, Integer> kinds = new java.util.TreeMap<>();
    for (Result r : t.violations) {
      String k = r.violation() instanceof Violation v ? v.rule : r.violation().toString();
      kinds.merge(k, 1, Integer::sum);
    }
    t.violations.stream()
        .sorted(java.util.Comparator.comparingLong(Result::events))
        .limit(30)
        .forEach(r -> System.out.println(r.seed() + " events=" + r.events() + " " + r.violation()));
    System.out.println(kinds);
    System.out.printf(
        "seeds=%d events=%d (%.0f/seed) grants=%d ext=%d handoffs=%d violations=%d seeds/s=%.0f digest=%x%n",
        t.seeds.sum(),
        t.events.sum(),
        t.events.sum() / (double) t.seeds.sum(),
        t.grants.sum(),
        t.extensions.sum(),
        t.handOffs.sum(),
        t.violations.size(),
        t.seeds.sum() / s,
        t.digests.sum());
  }
}
