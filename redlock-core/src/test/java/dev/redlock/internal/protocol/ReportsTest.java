package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.AcquireVerdict;
import dev.redlock.LockOptions;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReportsTest {
  private static final long MILLI = TestNodes.MILLI;

  private final TestNodes nodes = new TestNodes(3);
  private final LockOptions config = TestNodes.options().build();
  private final long start = 10_000 * MILLI;
  private final Waiter waiter = new TestNodes.Caller(config, start - 5 * MILLI, MILLI, false);

  private AcquireRound round() {
    return nodes.round(config, start, TestNodes.reply(Code.GRANTED));
  }

  private void reply(AcquireRound r, int node, NodeReply reply, long afterMillis) {
    r.answered(node);
    r.record(node, reply, start + afterMillis * MILLI);
  }

  private AcquireReport report(AcquireRound r, long afterMillis) {
    return Reports.of(
        nodes, TestNodes.KEYS, r, AcquireVerdict.HELD, waiter, start + afterMillis * MILLI);
  }

  @Test
  void round_thatWasNeverPut_hasNoVotes() {
    waiter.rounds = 7;
    AcquireReport report =
        Reports.of(nodes, TestNodes.KEYS, null, AcquireVerdict.CLOSED, waiter, start + 2 * MILLI);
    assertThat(report.votes()).isEmpty();
    assertThat(report.toString()).isNotEmpty();
    assertThat(report)
        .isEqualTo(
            new AcquireReport(
                TestNodes.KEYS.names(),
                AcquireVerdict.CLOSED,
                2,
                report.votes(),
                Duration.ofMillis(7),
                7,
                Duration.ZERO,
                0,
                null));
  }

  @Test
  void replies_ofARound_saySoWithTheirLatency() {
    AcquireRound r = round();
    reply(r, 0, TestNodes.reply(Code.GRANTED), 3);
    reply(r, 1, NodeReply.held(1, 0, 0, 250, "cafe0001~tester"), 4);
    AcquireReport report = report(r, 20);
    assertThat(report.votes())
        .containsExactly(
            new NodeVote("n0", Vote.GRANTED, Duration.ofMillis(3), null, null, null, null),
            new NodeVote(
                "n1",
                Vote.HELD,
                Duration.ofMillis(4),
                null,
                "cafe0001",
                Duration.ofMillis(250),
                "tester"),
            new NodeVote(
                "n2",
                Vote.SILENT,
                Duration.ofMillis(20),
                "TIMEOUT: no answer yet",
                null,
                null,
                null));
    assertThat(report.quorum()).isEqualTo(2);
  }

  @Test
  void refusals_withoutAHolder_sayWhy() {
    AcquireRound r = round();
    reply(r, 0, TestNodes.reply(Code.QUEUED), 1);
    reply(r, 1, NodeReply.of(Code.STALE, 1, 700, 800), 1);
    reply(r, 2, NodeReply.failed(1, NodeError.Kind.BUSY, "script"), 1);
    Duration took = Duration.ofMillis(1);
    assertThat(report(r, 2).votes())
        .containsExactly(
            new NodeVote("n0", Vote.HELD, took, "others are queued before", null, null, null),
            new NodeVote("n1", Vote.STALE, took, "fence 800, node time 700 µs", null, null, null),
            new NodeVote("n2", Vote.SILENT, took, "BUSY: script", null, null, null));
  }

  @Test
  void freeLock_whoseQueueDoesNotAnswer_isNotReportedAsHeld() {
    AcquireRound r = round();
    reply(r, 0, new NodeReply(Code.QUEUED, 1, 700, 0, 0, null, 20, null), 1);
    reply(r, 1, TestNodes.reply(Code.QUEUED), 1);
    assertThat(report(r, 2).sentence())
        .startsWith("free, 20 processes queued before do not answer (");
    reply(r, 1, TestNodes.held(500), 1);
    assertThat(report(r, 2).sentence()).startsWith("held by another client (");
  }

  @Test
  void holder_withoutAMark_isReportedWithoutAName() {
    AcquireRound r = round();
    reply(r, 0, TestNodes.reply(Code.HELD), 1);
    assertThat(report(r, 2).votes().get(0))
        .isEqualTo(new NodeVote("n0", Vote.HELD, Duration.ofMillis(1), null, null, null, null));
  }

  @Test
  void grant_onAConnectionThatBroke_isSilent() {
    AcquireRound r = round();
    reply(r, 0, TestNodes.reply(Code.GRANTED), 1);
    nodes.state(0, NodeStatus.State.VOTING, 2);
    NodeVote vote = report(r, 2).votes().get(0);
    assertThat(vote.vote()).isEqualTo(Vote.SILENT);
    assertThat(vote.error()).isEqualTo("its answer counts no more: the node changed since");
    nodes.state(0, NodeStatus.State.QUARANTINED, 1);
    assertThat(report(r, 2).votes()).as("its record is read again").contains(vote);
  }

  @Test
  void reply_laterThanTheNodeTimeout_isSilent() {
    AcquireRound r = round();
    reply(r, 0, TestNodes.reply(Code.GRANTED), 100);
    reply(r, 1, TestNodes.reply(Code.GRANTED), 101);
    reply(r, 2, NodeReply.failed(1, NodeError.Kind.BUSY, "script"), 101);
    assertThat(report(r, 200).votes())
        .containsExactly(
            new NodeVote("n0", Vote.GRANTED, Duration.ofMillis(100), null, null, null, null),
            new NodeVote(
                "n1",
                Vote.SILENT,
                Duration.ofMillis(101),
                "TIMEOUT: GRANTED came later than the node timeout of 100 ms",
                null,
                null,
                null),
            new NodeVote(
                "n2", Vote.SILENT, Duration.ofMillis(101), "BUSY: script", null, null, null));
  }

  @Test
  void holder_thatRepliesLateToARefusedRound_isStillNamed() {
    AcquireRound r = round();
    r.latch(AcquireVerdict.HELD);
    reply(r, 0, TestNodes.held(50), 101);
    assertThat(report(r, 200).votes().get(0).vote()).isEqualTo(Vote.HELD);
  }

  @Test
  void nodes_thatWereNotAsked_sayTheirState() {
    nodes.state(0, NodeStatus.State.CONNECTING, 1);
    nodes.status(1, new NodeStatus(NodeStatus.State.QUARANTINED, 1, 0, start + 9 * MILLI, "new"));
    nodes.status(
        2, new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "READONLY: replica", true, null));
    assertThat(report(round(), 4).votes())
        .containsExactly(
            new NodeVote(
                "n0",
                Vote.SILENT,
                Duration.ZERO,
                "DISCONNECTED: CONNECTING by the test",
                null,
                null,
                null),
            new NodeVote(
                "n1", Vote.QUARANTINED, Duration.ZERO, "new; votes in 5 ms", null, null, null),
            new NodeVote("n2", Vote.SILENT, Duration.ZERO, "READONLY: replica", null, null, null));
    assertThat(report(round(), 9).votes().get(1).error()).as("quarantine is over").isEqualTo("new");
  }

  @Test
  void node_thatLostItsConnection_saysTheCauseOnce() {
    nodes.status(
        0, new NodeStatus(NodeStatus.State.CONNECTING, 1, 0, 0, "DISCONNECTED: reset by peer"));
    assertThat(report(round(), 1).votes().get(0).error()).isEqualTo("DISCONNECTED: reset by peer");
  }

  @Test
  void round_thatWasNotSentToANode_saysNotAsked() {
    AcquireRound r = round();
    r.neverSent();
    NodeVote vote = report(r, 1).votes().get(0);
    assertThat(vote.vote()).isEqualTo(Vote.NOT_ASKED);
    assertThat(vote.error()).isEqualTo("too few other nodes could have voted");
  }

  @Test
  void waiter_thatWasQueued_seesTheReplyOfTheHomeNodeAlone() {
    QueueRequest queued = new QueueRequest(nodes, 1, start, start + 10 * MILLI, null);
    AcquireReport silent =
        Reports.ofQueued(nodes, TestNodes.KEYS, queued, waiter, start + 3 * MILLI);
    assertThat(silent.verdict()).isEqualTo(AcquireVerdict.UNDECIDED);
    assertThat(silent.waited()).isEqualTo(Duration.ofMillis(8));
    assertThat(silent.votes())
        .containsExactly(
            notAsked("n0"),
            new NodeVote(
                "n1", Vote.SILENT, Duration.ofMillis(3), "TIMEOUT: no answer", null, null, null),
            notAsked("n2"));
    queued.record(1, TestNodes.reply(Code.QUEUED));
    AcquireReport held = Reports.ofQueued(nodes, TestNodes.KEYS, queued, waiter, start + 3 * MILLI);
    assertThat(held.verdict()).isEqualTo(AcquireVerdict.HELD);
    assertThat(held.votes().get(1).vote()).isEqualTo(Vote.HELD);
  }

  /**
   * In fair mode the node was asked before the release: the holder that it names is this client.
   */
  @Test
  void waiter_thatWasQueuedWhileThisClientHeldTheLock_seesNoHolder() {
    QueueRequest early = new QueueRequest(nodes, 1, start, start + 10 * MILLI, waiter);
    early.record(1, TestNodes.held(900));
    AcquireReport held = Reports.ofQueued(nodes, TestNodes.KEYS, early, waiter, start + 3 * MILLI);
    assertThat(held.votes().get(1).error()).isEqualTo("asked while this client held the lock");
    assertThat(held.votes().get(1).holder()).isNull();
  }

  private static NodeVote notAsked(String node) {
    return new NodeVote(
        node, Vote.NOT_ASKED, Duration.ZERO, "only the home node was asked", null, null, null);
  }

  @Test
  void release_withoutAQuorum_saysWhatEachNodeDid() {
    LockRequest.Release request = new LockRequest.Release(TestNodes.KEYS, "id", 64, true, 0, null);
    PendingRelease release = new PendingRelease(request, start, nodes);
    release.asked(0b111, start);
    release.record(0, TestNodes.reply(Code.RELEASED));
    release.record(2, TestNodes.reply(Code.LOST));
    AcquireReport report = Reports.ofReplies(nodes, TestNodes.KEYS, release, start + 6 * MILLI);
    assertThat(report.waited()).isEqualTo(Duration.ofMillis(6));
    assertThat(report.votes())
        .containsExactly(
            new NodeVote("n0", Vote.GRANTED, Duration.ZERO, null, null, null, null),
            new NodeVote(
                "n1", Vote.SILENT, Duration.ofMillis(6), "TIMEOUT: no answer", null, null, null),
            new NodeVote("n2", Vote.HELD, Duration.ZERO, null, null, null, null));
  }
}
