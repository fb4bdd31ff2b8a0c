package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import dev.redlock.internal.protocol.AcquireRound.Verdict;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Every ballot in every order of arrival, for one to five nodes: one decision, and the right one.
 */
class BallotsTest {
  private static final Terms TERMS = Terms.of(LockOptions.defaults());
  private static final NodeStatus VOTING = new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "");
  private static final NodeReply[] ANSWERS = {
    NodeReply.of(ReplyCode.GRANTED, 1, 1, 1),
    NodeReply.held(1, 1, 1, 1000, "somebody"),
    NodeReply.of(ReplyCode.STALE, 1, 1, 9),
    NodeReply.failed(1, NodeError.Kind.DISCONNECTED, "gone")
  };

  private int runs;

  @Test
  void round_anyBallotInAnyOrder_isDecidedOnceAndOnlyAMajorityWins() {
    for (int n = 1; n <= 5; n++) {
      int ballots = (int) Math.pow(ANSWERS.length, n);
      for (int ballot = 0; ballot < ballots; ballot++) {
        int[] votes = new int[n];
        for (int i = 0, rest = ballot; i < n; i++, rest /= ANSWERS.length) {
          votes[i] = rest % ANSWERS.length;
        }
        permute(votes, new int[n], 0, 0);
      }
    }
    System.out.println("ballots x orders: " + runs + " runs");
    assertThat(runs).isGreaterThan(100_000);
  }

  private void permute(int[] votes, int[] order, int placed, int used) {
    if (placed == votes.length) {
      check(votes, order);
      return;
    }
    for (int i = 0; i < votes.length; i++) {
      if ((used & 1 << i) == 0) {
        order[placed] = i;
        permute(votes, order, placed + 1, used | 1 << i);
      }
    }
  }

  private void check(int[] votes, int[] order) {
    runs++;
    int n = votes.length;
    LockRequest.Acquire request =
        new LockRequest.Acquire(LockKeys.of("t", List.of("x")), "id", 5, 30_000, null, 0, null);
    AcquireRound round = new AcquireRound(nodes(n), request, TERMS, false, null, 0, 0);
    round.begin(Quorum.all(n));
    int granted = 0;
    Verdict decided = Verdict.UNDECIDED;
    for (int at = 0; at < n; at++) {
      int node = order[at];
      granted += votes[node] == 0 ? 1 : 0;
      round.answered(node);
      Verdict verdict = round.onReply(node, ANSWERS[votes[node]], 1000L * (at + 1), 0);
      if (decided != Verdict.UNDECIDED) {
        assertThat(verdict).as("latched").isEqualTo(decided);
      } else if (verdict == Verdict.WON) {
        assertThat(granted).isEqualTo(Quorum.of(n));
      } else if (verdict != Verdict.UNDECIDED) {
        assertThat(granted + n - at - 1).as("still to be had").isLessThan(Quorum.of(n));
      }
      decided = verdict;
    }
    int all = 0;
    for (int vote : votes) {
      all += vote == 0 ? 1 : 0;
    }
    assertThat(decided).isNotEqualTo(Verdict.UNDECIDED);
    assertThat(decided == Verdict.WON).isEqualTo(all >= Quorum.of(n));
    // Whatever was granted to a round that is not won lies on a node that it was sent to.
    assertThat(round.grantedMask() & ~round.sentMask()).isZero();
  }

  private static Nodes nodes(int n) {
    NodeKnowledge known = new NodeKnowledge();
    return new Nodes() {
      @Override
      public int count() {
        return n;
      }

      @Override
      public String name(int node) {
        return "n" + node;
      }

      @Override
      public NodeStatus status(int node) {
        return VOTING;
      }

      @Override
      public NodeKnowledge knowledge(int node) {
        return known;
      }
    };
  }
}
