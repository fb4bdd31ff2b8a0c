package dev.redlock.examples.tutorial;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In each step the failure occurs that its page describes. In the last step no failure occurs. */
@Timeout(120)
class StepsTest {
  private final List<String> told = new ArrayList<>();
  private final Steps steps = new Steps(told::add);

  @Test
  void lockWithoutExpiry_ofAHolderThatDied_isTakenForEver() throws Exception {
    assertThat(steps.noExpiry()).as(() -> told.toString()).isTrue();
  }

  @Test
  void lockWithoutOwner_deletedByALateHolder_hasTwoHolders() throws Exception {
    assertThat(steps.noOwner()).as(() -> told.toString()).isTrue();
  }

  @Test
  void lockOnOneMaster_thatIsKilledAndRestarted_isMissingAndThenGrantedTwice() {
    assertThat(steps.oneMaster()).as(() -> told.toString()).isTrue();
  }

  @Tag("thorough")
  @Test
  void quorumLockWithoutDrift_hasTwoHoldersForAMoment_andWithDriftHasNot() throws Exception {
    assertThat(steps.noDrift()).as(() -> told.toString()).isTrue();
  }

  @Test
  void quorumLockWithoutToken_ofAPausedHolder_losesASale() throws Exception {
    assertThat(steps.noToken()).as(() -> told.toString()).isTrue();
  }

  @Test
  void library_inTheSameHistory_rejectsTheLateWrite() {
    assertThat(steps.library()).as(() -> told.toString()).isTrue();
  }
}
