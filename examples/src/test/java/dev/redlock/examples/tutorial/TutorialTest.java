package dev.redlock.examples.tutorial;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TutorialTest {
  private final List<String> lines = new ArrayList<>();

  @Test
  void noArgument_stepThatGoesWrong_runsAllStepsInOrderAndFails() throws Exception {
    Tutorial tutorial = new Tutorial(List.of(() -> true, () -> false, () -> true), lines::add);

    assertThat(tutorial.run()).isEqualTo(1);
    assertThat(lines)
        .containsExactly(
            "Step 1",
            "tutorial 1: as told",
            "\nStep 2",
            "tutorial 2: NOT AS TOLD",
            "\nStep 3",
            "tutorial 3: as told");
  }

  @Test
  void noArgument_stepsThatGoAsTold_succeeds() throws Exception {
    assertThat(new Tutorial(List.of(() -> true, () -> true), lines::add).run()).isZero();
  }

  @Test
  void number_ofAStep_runsThatStepAlone() throws Exception {
    assertThat(new Tutorial(List.of(() -> false, () -> true), lines::add).run("2")).isZero();
    assertThat(lines).containsExactly("tutorial 2: as told");
  }

  @Test
  void argument_thatIsNoStep_isRefusedWithTheArgument() throws Exception {
    Tutorial tutorial = new Tutorial(List.of(() -> true), lines::add);

    assertThat(tutorial.run("2")).isEqualTo(2);
    assertThat(tutorial.run("1", "all")).isEqualTo(2);
    assertThat(lines)
        .containsExactly(
            "usage: tutorial [STEP], and STEP is a number from 1 to 1, not: 2",
            "usage: tutorial [STEP], and STEP is a number from 1 to 1, not: 1 all");
  }
}
