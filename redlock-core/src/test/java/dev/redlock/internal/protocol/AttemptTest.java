package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AttemptTest {
  private static final NodeReply GRANTED = TestNodes.reply(ReplyCode.GRANTED);
  private static final int HOME = 2;

  private final TestNodes nodes = new TestNodes(3);

  private Attempt attempt(boolean fair, @Nullable Attempt before) {
    LockConfig config = LockConfig.of(TestNodes.options().fair(fair).build());
    return new Attempt(new TestNodes.Caller(config, 0, 5, false), before);
  }

  private AcquireRound round(Attempt a, String id, NodeReply vote, int... voters) {
    LockConfig config = a.waiter().config;
    LockRequest.Acquire request =
        new LockRequest.Acquire(TestNodes.KEYS, id, 64, config.ttlMillis(), null, 0, null);
    AcquireRound r = new AcquireRound(nodes, request, config, null, false, -1, 0, 0);
    for (int node : voters) {
      r.answered(node);
      r.onReply(node, vote, 0, 0);
    }
    a.begin(r);
    return r;
  }

  @Test
  void secondRound_ofALeaseId_isResponsibleForWhatTheFirstLeft() {
    Attempt a = attempt(false, null);
    AcquireRound first = round(a, "id", GRANTED);
    AcquireRound second = round(a, "id", GRANTED);
    assertThat(first.isSuperseded(0)).isTrue();
    assertThat(second.isOnlyRoundAt(0)).isFalse();
    AcquireRound other = round(a, "other", GRANTED);
    assertThat(second.isSuperseded(0)).as("another lease id").isFalse();
    assertThat(other.isOnlyRoundAt(0)).isTrue();
  }

  @Test
  void leftover_isSuspectedOnce_ifAQuorumBesideTheHomeNodeWasFree() {
    Attempt a = attempt(false, null);
    assertThat(a.suspectsLeftoverAt(HOME, 2)).as("no round").isFalse();
    round(a, "id", GRANTED, 0);
    assertThat(a.suspectsLeftoverAt(HOME, 2)).as("one of three").isFalse();
    round(a, "id", GRANTED, 0, 1);
    assertThat(a.suspectsLeftoverAt(HOME, 2)).isTrue();
    assertThat(a.suspectsLeftoverAt(HOME, 2)).as("once").isFalse();
  }

  @Test
  void leftover_isSuspectedByTheNextWaiterToo_unlessTheVotesAreForgotten() {
    Attempt a = attempt(false, null);
    round(a, "id", GRANTED, 0, 1);
    assertThat(attempt(false, a).suspectsLeftoverAt(HOME, 2)).isTrue();
    a.forgetVotes();
    assertThat(attempt(false, a).suspectsLeftoverAt(HOME, 2)).isFalse();
  }

  @Test
  void leftover_isNotSuspectedInFairMode() {
    Attempt a = attempt(true, null);
    round(a, "id", GRANTED, 0, 1);
    assertThat(a.suspectsLeftoverAt(HOME, 2)).isFalse();
  }
}
