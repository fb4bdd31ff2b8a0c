package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantHunt;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** What tests require of many seeds, and of mutants. */
final class Promises {
  private static final int THREADS = Runtime.getRuntime().availableProcessors();
  private static final long BATCH = 20;

  private Promises() {}

  /** Runs these seeds, which must keep every promise. */
  static Simulator.Tally hold(Scenario.Setting setting, long from, long seeds)
      throws InterruptedException {
    Simulator.Tally tally = Simulator.runAll(from, seeds, setting, THREADS, 1);
    assertThat(tally.first()).isNull();
    return tally;
  }

  /** Runs as many seeds as the time allows, so that a slow machine does not make the build long. */
  static void holdFor(Scenario.Setting setting, long seconds, long most)
      throws InterruptedException {
    long start = System.nanoTime();
    long seeds = 0;
    while (seeds == 0 || (seeds < most && System.nanoTime() - start < seconds * 1e9)) {
      hold(setting, seeds + 1, BATCH);
      seeds += BATCH;
    }
    System.out.printf(
        Locale.ROOT,
        "simulation %s: seeds=%d violations=0 seeds/s=%.0f%n",
        setting,
        seeds,
        seeds / ((System.nanoTime() - start) / 1e9));
  }

  static List<MutantHunt.Outcome> hunt(long seeds, List<Mutant> mutants) throws Exception {
    return new MutantHunt(Path.of("..", ".."), new MutantTrial(seeds, false), THREADS)
        .hunt(mutants);
  }
}
