package dev.redlock.simulation;

import static dev.redlock.simulation.Promises.hunt;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.mutants.Mutant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The client as it ships, in worlds in which the set of nodes changes; {@code bin/simulate
 * --setting SHELL_SETS} runs more.
 */
class SetsTest {
  @Test
  void randomHistories_inWhichTheSetChanges_keepEveryPromise() throws InterruptedException {
    Promises.holdFor(Scenario.Setting.SHELL_SETS, 3, 1_000);
  }

  @Tag("thorough")
  @Test
  void moreRandomHistories_inWhichTheSetChanges_keepEveryPromise() throws InterruptedException {
    Promises.holdFor(Scenario.Setting.SHELL_SETS, 60, 7_500);
  }

  @Test
  void seed_runTwice_givesTheSameHistory_andTheSetChanges() {
    int changed = 0;
    for (long seed = 1; seed <= 6; seed++) {
      Simulator.Result once = Simulator.run(seed, Scenario.Setting.SHELL_SETS, true);
      Simulator.Result again = Simulator.run(seed, Scenario.Setting.SHELL_SETS, false);
      assertThat(again.digest()).as("seed %d", seed).isEqualTo(once.digest());
      assertThat(again.events()).as("seed %d", seed).isEqualTo(once.events());
      changed += once.world().sets.opened() > 1 ? 1 : 0;
    }
    assertThat(changed).as("worlds in which an operator has opened a set").isGreaterThan(2);
  }

  /**
   * A change of the set made a second node for a member that the client had just learned of
   * (80576). It also did if the name that a wrong server had given to a node stayed, because that
   * was not reached when the client chose its deployment (91289). A program founded with a list of
   * which two addresses led to one server, after that had restarted: no list ever had a majority
   * (40328). Two nodes that were removed are closed one after the other; the event of the first was
   * answered as if the second were open. A client then never came back to it when it was added
   * again (4805). And false alarms about worlds: a release that waits until its node works (33501);
   * work whose order to stop came before a pause (44847); a member that forgot beside one that was
   * cut off while it was replaced, which docs/safety.md excludes (60413); two leaders, one under a
   * lock that an operator had broken before its grant arrived (107087); the release of an expired
   * lease, which is told by an event of its own that no extension is before it (227445); an
   * operator who was to continue a set that had been given up (7956); a server that was removed,
   * and came back under its other name (21392); a deployment that was founded anew after a majority
   * had lost it, and that its program then told an empty node (207650). A removal that had to
   * complete an add of another operator, whose node did not store the set, failed by a null (84692,
   * 151111). And a false alarm again: the one address of an old list that still showed a record led
   * to another deployment with the same names, and a former member got its record (116417, 129152);
   * the last holder died with a lease longer than the others waited (188456).
   */
  @ParameterizedTest
  @ValueSource(
      longs = {
        4805, 7956, 21_392, 33501, 40_328, 44_847, 60_413, 80_576, 84_692, 91_289, 107_087, 116_417,
        129_152, 151_111, 188_456, 207_650, 227_445
      })
  void seedThatFailedOnce_keepsEveryPromise(long seed) {
    assertThat(Simulator.run(seed, Scenario.Setting.SHELL_SETS, false).violation()).isNull();
  }

  /** Outside of the assumptions two clients hold one lock, or found two deployments. */
  @Tag("thorough")
  @Test
  void controls_areCaught() throws Exception {
    List<Mutant> controls = SetMutants.all().subList(0, SetMutants.CONTROLS);
    assertThat(hunt(1_000, controls))
        .hasSize(SetMutants.CONTROLS)
        .allSatisfy(o -> assertThat(o.isCaught()).as(o.toString()).isTrue());
  }

  /** If ids do not differ, both hold one lock: a node grants a key that holds the same id. */
  @Test
  void mutantOfForkedProcesses_isCaught() throws Exception {
    List<Mutant> all = SetMutants.all();
    assertThat(hunt(700, all.subList(all.size() - SetMutants.FORKS, all.size())))
        .extracting(o -> o.by().replaceAll(".* ", ""))
        .containsExactly("exclusion");
  }

  @Tag("thorough")
  @Test
  void mutantsOfASetThatChanges_areCaught() throws Exception {
    List<Mutant> all = SetMutants.all();
    assertThat(hunt(2_000, all.subList(SetMutants.CONTROLS, all.size() - SetMutants.FORKS)))
        .allSatisfy(o -> assertThat(o.isCaught()).as(o.toString()).isTrue());
  }
}
