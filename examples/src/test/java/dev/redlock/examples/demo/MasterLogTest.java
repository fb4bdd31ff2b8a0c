package dev.redlock.examples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.timeline.Timeline.Phase;
import dev.redlock.harness.timeline.Timeline.State;
import dev.redlock.testkit.ServerState;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class MasterLogTest {
  private final MasterLog log = new MasterLog(1, -9);

  @Test
  void phases_ofMasterKilledAndBackEmpty_showItDeadThenQuarantinedThenVoting() {
    log.client(0, State.VOTING, -5);
    log.process(0, ServerState.DEAD, 10);
    log.client(0, State.CONNECTING, 12);
    log.process(0, ServerState.RUNNING, 20);
    log.client(0, State.QUARANTINED, 25);
    log.client(0, State.VOTING, 40);

    assertThat(log.phases(0, 0, 50))
        .containsExactly(
            new Phase(State.VOTING, 0, 10),
            new Phase(State.DEAD, 10, 20),
            new Phase(State.CONNECTING, 20, 25),
            new Phase(State.QUARANTINED, 25, 40),
            new Phase(State.VOTING, 40, 50));
  }

  @Test
  void summary_ofMastersInDifferentStates_namesThemByNumber() {
    MasterLog five = new MasterLog(5, 0);
    for (int i = 0; i < 5; i++) {
      five.client(i, State.VOTING, 1);
    }
    five.process(1, ServerState.DEAD, 2);
    five.client(4, State.QUARANTINED, 2);
    assertThat(five.summary(Collections.nCopies(5, Duration.ofMillis(3_100))))
        .isEqualTo("masters 1 3 4 vote · 2 DEAD · 5 quarantined 4 s");
    assertThat(log.summary(List.of(Duration.ZERO))).isEqualTo("no master votes · 1 connecting");
  }
}
