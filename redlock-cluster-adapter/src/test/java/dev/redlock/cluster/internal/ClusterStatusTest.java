package dev.redlock.cluster.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.cluster.internal.ClusterStatus.Part;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ClusterStatusTest {
  private static final long GRACE = ClusterStatus.GRACE.toNanos();
  private static final NodeStatus VOTING = new NodeStatus(State.VOTING, 1, 0, 0, "");
  private static final NodeStatus LOST = new NodeStatus(State.CONNECTING, 2, 0, 0, "gone");

  private final ClusterStatus whole = new ClusterStatus();
  private NodeStatus status = new NodeStatus(State.CONNECTING, 1, 0, 0, "not connected yet");

  private static NodeStatus quarantined(long since, long until) {
    return new NodeStatus(State.QUARANTINED, 1, since, until, "young");
  }

  private NodeStatus at(long now, NodeStatus... masters) {
    List<Part> parts = Stream.of(masters).map(master -> new Part("m", master)).toList();
    status = whole.next(status, parts, null, status.connection(), now);
    return status;
  }

  @Test
  void start_waitsForAllMasters_atMostTheGracePeriod() {
    assertThat(at(1, LOST, LOST).state()).isEqualTo(State.CONNECTING);
    assertThat(at(5, VOTING, LOST).state()).isEqualTo(State.PROBING);
    assertThat(whole.waitsForOthers()).isTrue();
    assertThat(at(4 + GRACE, VOTING, LOST).state()).isEqualTo(State.PROBING);
    assertThat(at(5 + GRACE, VOTING, LOST).state()).isEqualTo(State.VOTING);
  }

  @Test
  void allMastersConnected_votesAtOnce() {
    assertThat(at(5, VOTING, VOTING)).isEqualTo(new NodeStatus(State.VOTING, 1, 5, 0, ""));
    assertThat(at(9, VOTING, VOTING).sinceNanos()).isEqualTo(5);
  }

  @Test
  void oneMasterLost_continuesToVote_allLost_isConnecting_andWaitsForAllAgain() {
    at(1, VOTING, VOTING);
    assertThat(at(2, VOTING, LOST).state()).isEqualTo(State.VOTING);
    assertThat(at(3, LOST, LOST).state()).isEqualTo(State.CONNECTING);
    assertThat(status.cause()).contains("gone");
    assertThat(at(4 + GRACE, LOST, VOTING).state()).isEqualTo(State.PROBING);
  }

  @Test
  void someQuarantined_votes_allQuarantined_isQuarantinedFromTheLatestBeginToTheEarliestEnd() {
    assertThat(at(1, VOTING, quarantined(1, 50)).state()).isEqualTo(State.VOTING);
    NodeStatus held = at(2, quarantined(1, 50), quarantined(7, 40), quarantined(3, 0));
    assertThat(held.state()).isEqualTo(State.QUARANTINED);
    assertThat(held.sinceNanos()).isEqualTo(7);
    assertThat(held.untilNanos()).isEqualTo(40);
    assertThat(held.cause()).contains("young");
  }

  @Test
  void objection_preventsVoting_withoutEnd() {
    NodeStatus refused =
        whole.next(status, List.of(new Part("m", VOTING)), "the same as another", 3, 1);
    assertThat(refused)
        .isEqualTo(new NodeStatus(State.QUARANTINED, 3, 1, 0, "the same as another"));
  }
}
