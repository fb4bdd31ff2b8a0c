package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantHunt;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The client as it ships, in simulated worlds; {@code bin/simulate --shell} runs more. */
class ShellTest {
  private static final int THREADS = Runtime.getRuntime().availableProcessors();
  private static final long SECONDS = 6;
  private static final long BATCH = 20;

  /** Runs as many seeds as the time allows, so that a slow machine does not make the build long. */
  @Test
  void randomHistories_keepEveryPromise() throws InterruptedException {
    long start = System.nanoTime();
    long seeds = 0;
    while (seeds == 0 || System.nanoTime() - start < SECONDS * 1_000_000_000L) {
      Simulator.Tally tally =
          Simulator.runAll(seeds + 1, BATCH, Scenario.Setting.SHELL, THREADS, 1);
      seeds += BATCH;
      Simulator.Result first = tally.first();
      assertThat(first)
          .as(() -> "bin/simulate --shell --seed " + first.seed() + ": " + first.violation())
          .isNull();
    }
    System.out.printf(
        Locale.ROOT,
        "simulation SHELL: seeds=%d violations=0 seeds/s=%.0f%n",
        seeds,
        seeds / ((System.nanoTime() - start) / 1e9));
  }

  /**
   * Seeds that fail when an old defect is put back. In 31487 the old queue of a name forwards a
   * caller to the new queue, and the cancellation of this caller arrives there first. In 22247 a
   * thread pauses in the queue while the client closes, and its lease stays valid. In 4098 a late
   * reply gives a retired queue a lease to release, and the close does not know of it. In 945057
   * the client repairs a node once for each change of its status that waited in a queue.
   */
  @ParameterizedTest
  @ValueSource(longs = {4098, 22247, 31487, 945057})
  void seedThatFailed_keepsEveryPromise(long seed) {
    Simulator.Result result = Simulator.run(seed, Scenario.Setting.SHELL_NORMAL, false);
    assertThat(result.violation()).isNull();
  }

  /**
   * An event of a paused process was below events of another process on the call stack. The
   * simulator took the paused process for a running one.
   */
  @Test
  void seedInWhichAPausedEventWaitsForOthers_isNoFailure() {
    assertThat(Simulator.run(6_347, Scenario.Setting.SHELL, false).violation()).isNull();
  }

  /** The digest is the same on JDK 17 and 25. A change that changes no behaviour keeps it. */
  @Test
  void smallWorlds_keepEveryPromiseAndTheDigest() throws InterruptedException {
    Simulator.Tally tally = holdInSmallWorlds(Scenario.Setting.SHELL_NORMAL);
    assertThat(Long.toHexString(tally.digests.sum())).isEqualTo("2ee28a36cb4e2fe");
  }

  @Test
  void smallWorldsThatAskAMajorityFirst_keepEveryPromise() throws InterruptedException {
    holdInSmallWorlds(Scenario.Setting.SHELL_MAJORITY);
  }

  private static Simulator.Tally holdInSmallWorlds(Scenario.Setting setting)
      throws InterruptedException {
    Simulator.Tally tally = Simulator.runAll(1, 300, setting, THREADS, 1);
    Simulator.Result first = tally.first();
    assertThat(first)
        .as(
            () ->
                "bin/simulate --setting "
                    + setting
                    + " --seed "
                    + first.seed()
                    + ": "
                    + first.violation())
        .isNull();
    return tally;
  }

  @Test
  void seed_runTwice_givesTheSameHistory() {
    boolean threads = false;
    for (long seed = 1; seed <= 10; seed++) {
      Simulator.Result once = Simulator.run(seed, Scenario.Setting.SHELL, true);
      Simulator.Result again = Simulator.run(seed, Scenario.Setting.SHELL, false);
      assertThat(again.digest()).as("seed %d", seed).isEqualTo(once.digest());
      assertThat(again.events()).as("seed %d", seed).isEqualTo(once.events());
      threads |= once.world().scenario.threads > 0;
    }
    assertThat(threads).as("one of these seeds has threads that block").isTrue();
  }

  /** The first mutants of the shell, by few seeds; {@code bin/simulate --mutants} hunts all. */
  @Test
  void mutantsOfTheShell_areCaught() throws Exception {
    List<Mutant> few = ShellMutants.all().subList(2, 5);
    assertThat(hunt(60, few))
        .hasSize(3)
        .allSatisfy(o -> assertThat(o.isCaught()).as(o.toString()).isTrue());
  }

  @Test
  void changeOfTheShellThatIsNone_isNotCaught() throws Exception {
    Mutant none =
        ShellMutants.variant("LockActor", "GRACE_NANOS = 25_000_000;", "GRACE_NANOS = 25000000;");
    assertThat(hunt(20, List.of(none)))
        .singleElement()
        .satisfies(o -> assertThat(o.isCaught()).as(o.toString()).isFalse());
  }

  private static List<MutantHunt.Outcome> hunt(long seeds, List<Mutant> mutants) throws Exception {
    return new MutantHunt(Path.of("..", ".."), new MutantTrial(seeds, false), THREADS)
        .hunt(mutants);
  }
}
