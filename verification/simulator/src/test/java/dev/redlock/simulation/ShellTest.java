package dev.redlock.simulation;

import static dev.redlock.simulation.Promises.hunt;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.mutants.Mutant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The client as it ships, in simulated worlds; {@code bin/simulate --shell} runs more. */
class ShellTest {
  @Test
  void randomHistories_keepEveryPromise() throws InterruptedException {
    Promises.holdFor(Scenario.Setting.SHELL, 6, Long.MAX_VALUE);
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
    Simulator.Tally tally = Promises.hold(Scenario.Setting.SHELL_NORMAL, 1, 300);
    assertThat(Long.toHexString(tally.digests.sum())).isEqualTo("5775873e6c3c49b3");
  }

  @Test
  void smallWorldsThatAskAMajorityFirst_keepEveryPromise() throws InterruptedException {
    Promises.hold(Scenario.Setting.SHELL_MAJORITY, 1, 300);
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
    Mutant none = ShellMutants.variant("ClientContext", "NANOS = 25_000_000;", "NANOS = 25000000;");
    assertThat(hunt(20, List.of(none)))
        .singleElement()
        .satisfies(o -> assertThat(o.isCaught()).as(o.toString()).isFalse());
  }
}
