package dev.redlock.cluster.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ClusterRepliesTest {
  private static final long SINCE = 5;
  private static final long LATER = SINCE + TimeUnit.SECONDS.toNanos(3);

  private static boolean counts(State master, Code code, long nowNanos) {
    return ClusterReplies.counts(
        new NodeStatus(master, 2, SINCE, 0, ""),
        new NodeReply(code, 2, 0, 0, 0, null, 0, null),
        nowNanos);
  }

  /**
   * A grant that is asked for while no master votes would count once another master votes, before
   * the round is judged: the number of the connection stays the same.
   */
  @Test
  void grantOfAQuarantinedMaster_neverCounts() {
    assertThat(counts(State.QUARANTINED, Code.GRANTED, LATER)).isFalse();
    assertThat(counts(State.VOTING, Code.GRANTED, SINCE)).isTrue();
  }

  @Test
  void extensionByAQuarantinedMaster_countsAfter3s() {
    assertThat(counts(State.QUARANTINED, Code.EXTENDED, LATER - 1)).isFalse();
    assertThat(counts(State.QUARANTINED, Code.EXTENDED, LATER)).isTrue();
    assertThat(counts(State.QUARANTINED, Code.REPAIRED, LATER - 1)).isFalse();
  }

  @Test
  void replyOfAnEarlierConnection_doesNotCount() {
    NodeReply before = new NodeReply(Code.GRANTED, 1, 0, 0, 0, null, 0, null);
    NodeStatus now = new NodeStatus(State.VOTING, 2, SINCE, 0, "");
    assertThat(ClusterReplies.counts(now, before, LATER)).isFalse();
  }
}
