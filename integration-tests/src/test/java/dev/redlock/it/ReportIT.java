package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.AcquireVerdict;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.operations.NodeState;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every failed acquire reports the vote of each node and its reason. */
@RedisTest(nodes = 3)
class ReportIT {
  /** Options with which every vote counts, also on a busy machine. */
  private static final LockOptions PATIENT =
      LockOptions.builder().nodeTimeout(Duration.ofSeconds(1)).build();

  private final RedisNodes nodes;

  ReportIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Test
  void refusal_lockHeld_reportsHolderAndRemainingTime() {
    try (Redlock one = Clients.patient(nodes);
        Redlock two = Clients.patient(nodes);
        Lease held = one.lock("report").acquire(Duration.ofSeconds(2))) {
      AcquireReport report =
          catchThrowableOfType(
                  LockTimeoutException.class,
                  () -> two.lock("report").acquire(Duration.ofMillis(500)))
              .report();
      System.out.println(report);
      assertThat(report.verdict()).isEqualTo(AcquireVerdict.HELD);
      NodeVote vote = report.votes().stream().filter(v -> v.vote() == Vote.HELD).findFirst().get();
      assertThat(vote.holder()).hasSize(8);
      String secret = Clients.leaseId(nodes, "report");
      assertThat(secret).doesNotContain(vote.holder());
      assertThat(vote.remaining()).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(30));
      assertThat(report.sentence()).doesNotContain(secret);
    }
  }

  @Test
  void refusal_votesSplit_isReportedAsACollisionAndNotAsHeld() {
    try (Redlock redlock = Clients.patient(nodes)) {
      AcquireReport seen = null;
      // If the home node is one of these two, or both reply first, the report is "held".
      for (int i = 0; i < 200 && (seen == null || seen.verdict() != AcquireVerdict.COLLIDED); i++) {
        String key = Clients.lockKey("split-" + i);
        nodes.get(1).command("SET", key, "other", "PX", "5000");
        nodes.get(2).command("SET", key, "another", "PX", "5000");
        seen =
            catchThrowableOfType(
                    LockTimeoutException.class,
                    () ->
                        redlock
                            .lock(key.substring(9, key.length() - 1), PATIENT)
                            .acquire(Duration.ZERO))
                .report();
        nodes.get(1).command("DEL", key);
        nodes.get(2).command("DEL", key);
      }
      System.out.println(seen);
      assertThat(seen.verdict()).isEqualTo(AcquireVerdict.COLLIDED);
      assertThat(seen.sentence()).contains("several clients asked at once; this one got no quorum");
      assertThat(seen.votes())
          .extracting(NodeVote::vote)
          .containsExactly(Vote.GRANTED, Vote.HELD, Vote.HELD);
      assertThat(seen.votes().get(1).holder()).isNotEqualTo(seen.votes().get(2).holder());
    }
  }

  @Test
  void refusal_fencesAheadOfWhatNodesAccept_isReportedAsRejectedTokens() {
    try (Redlock redlock = Clients.patient(nodes)) {
      for (int i = 0; i < 2; i++) {
        List<?> time = (List<?>) nodes.get(i).command("TIME");
        String fence = (Long.parseLong("" + time.get(0)) + 60) + "000000"; // A minute ahead.
        nodes
            .get(i)
            .command("SET", Clients.lockKey("ahead") + ":fence", fence + ":0:0", "PX", "20000");
      }
      AcquireReport report =
          catchThrowableOfType(
                  QuorumUnavailableException.class,
                  () -> redlock.lock("ahead", PATIENT).tryAcquire())
              .report();
      System.out.println(report);
      assertThat(report.verdict()).isEqualTo(AcquireVerdict.STALE);
      assertThat(report.count(Vote.STALE)).isEqualTo(2);
      assertThat(report.votes().get(0).error()).contains("fence ").contains("node time ");
      assertThat(report.sentence()).contains("compare their clocks");
    }
  }

  @Test
  void refusal_freshMastersUnderTheGuard_reportsTheTimeAndTheSetting() {
    Duration longest = Duration.ofMinutes(10); // However long the masters have been up by now.
    try (Redlock redlock =
        Redlock.builder()
            .nodes(nodes.uris().toArray(String[]::new))
            .maxLeaseTime(longest)
            .build()) {
      Eventually.holds(
          () ->
              redlock.operations().nodes().stream()
                  .allMatch(n -> n.state() == NodeState.State.QUARANTINED),
          nodes);
      QuorumUnavailableException refused =
          catchThrowableOfType(
              QuorumUnavailableException.class, () -> redlock.lock("report").tryAcquire());
      System.out.println(refused.report());
      assertThat(refused.report().count(Vote.QUARANTINED)).isEqualTo(3);
      assertThat(refused.getMessage()).contains("without the restart guard");
      assertThat(redlock.operations().nodes().get(0).remaining())
          .isBetween(Duration.ofMinutes(1), longest.plusMinutes(1));
    }
  }
}
