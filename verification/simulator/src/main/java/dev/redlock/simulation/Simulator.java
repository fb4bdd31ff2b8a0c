package dev.redlock.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** Runs seeds, one world for each, and sums up the results. */
final class Simulator {
  private Simulator() {}

  /** The result of one seed. */
  record Result(long seed, Throwable violation, World world) {
    long events() {
      return world.events;
    }

    long digest() {
      return world.history.digest();
    }

    /** The broken rule, or the exception; null if there was none. */
    String rule() {
      return violation == null
          ? null
          : violation instanceof Violation v ? v.rule : violation.getClass().getSimpleName();
    }

    @Override
    public String toString() {
      String setting = world.scenario.setting.name();
      return String.format("bin/simulate --setting %s --seed %d: %s", setting, seed, violation);
    }
  }

  /**
   * Runs one seed.
   *
   * @param tracing whether the table of the history is kept
   */
  static Result run(long seed, Scenario.Setting setting, boolean tracing) {
    return run(seed, setting, tracing, new Coverage());
  }

  private static Result run(
      long seed, Scenario.Setting setting, boolean tracing, Coverage coverage) {
    World world = World.of(seed, setting, tracing, coverage);
    Throwable violation = null;
    try {
      world.run();
    } catch (RuntimeException | AssertionError e) {
      // An exception of the protocol is a violation as well.
      violation = e;
      world.row("checker", "VIOLATION " + e);
    } finally {
      world.endThreads();
    }
    return new Result(seed, violation, world);
  }

  /** The sums over many seeds. */
  static final class Tally {
    final LongAdder seeds = new LongAdder();
    final LongAdder events = new LongAdder();
    final LongAdder grants = new LongAdder();
    final LongAdder extensions = new LongAdder();
    final LongAdder handOffs = new LongAdder();
    final LongAdder handedOffLocally = new LongAdder();
    final LongAdder digests = new LongAdder();
    final Coverage coverage = new Coverage();
    final Margins margins = new Margins();
    final List<Result> violations = new ArrayList<>();
    private final AtomicLong next = new AtomicLong();
    private final AtomicBoolean stop = new AtomicBoolean();

    private void add(Result result) {
      seeds.increment();
      events.add(result.events());
      grants.add(result.world().checker.grants);
      extensions.add(result.world().checker.extensions);
      handOffs.add(result.world().checker.handOffs);
      handedOffLocally.add(result.world().checker.handedOffLocally);
      digests.add(result.digest());
      margins.add(result.world().margins, result.seed());
    }

    /** The violation of the lowest seed; null if there is none. */
    synchronized Result first() {
      return violations.stream().min(Comparator.comparingLong(Result::seed)).orElse(null);
    }

    private synchronized void violated(Result result, int maxViolations) {
      violations.add(result);
      if (violations.size() >= maxViolations) {
        stop.set(true);
      }
    }
  }

  /** Runs these seeds, and stops after so many violations. */
  static Tally runAll(
      long first, long count, Scenario.Setting setting, int threads, int maxViolations)
      throws InterruptedException {
    Tally tally = new Tally();
    start(tally, first, count, setting, threads, maxViolations).join();
    return tally;
  }

  /** The threads that run the seeds. */
  record Run(List<Thread> threads) {
    void join() throws InterruptedException {
      for (Thread t : threads) {
        t.join();
      }
    }

    boolean join(long millis) throws InterruptedException {
      long until = System.nanoTime() + millis * 1_000_000;
      for (Thread t : threads) {
        long left = (until - System.nanoTime()) / 1_000_000;
        if (left > 0) {
          t.join(left);
        }
        if (t.isAlive()) {
          return false;
        }
      }
      return true;
    }
  }

  static Run start(
      Tally tally,
      long first,
      long count,
      Scenario.Setting setting,
      int threads,
      int maxViolations) {
    tally.next.set(first);
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Thread t =
          new Thread(() -> work(tally, first + count, setting, maxViolations), "simulate-" + i);
      t.setDaemon(true);
      workers.add(t);
      t.start();
    }
    return new Run(workers);
  }

  private static void work(Tally tally, long end, Scenario.Setting setting, int maxViolations) {
    Coverage coverage = new Coverage(); // Of this thread: threads do not wait for each other.
    while (!tally.stop.get()) {
      long seed = tally.next.getAndIncrement();
      if (seed >= end) {
        break;
      }
      Result result = run(seed, setting, false, coverage);
      tally.add(result);
      if (result.violation() != null) {
        tally.violated(result, maxViolations);
      }
    }
    tally.coverage.add(coverage);
  }
}
