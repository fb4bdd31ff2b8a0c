package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Configured nodes that are not independent have one vote together. */
class IndependenceCheckTest {
  private static final Logger LOG = LoggerFactory.getLogger(IndependenceCheckTest.class);

  private final IndependenceCheck independence =
      new IndependenceCheck(
          new NodeSet(
              List.of(new Named("a"), new Named("b"), new Named("c")), new FailureLog(LOG), LOG));

  private @Nullable String meet(int node, NodeIdentity identity) {
    return independence.check(node, identity, "marker of " + identity.runId());
  }

  private static NodeIdentity server(
      String runId, String role, String replication, boolean cluster) {
    return new NodeIdentity(
        runId,
        "redis",
        "7",
        99,
        role,
        cluster,
        "noeviction",
        replication,
        0,
        false,
        "",
        0,
        "",
        false,
        0,
        0,
        "");
  }

  private static NodeIdentity master(String runId) {
    return server(runId, "master", "replication of " + runId, false);
  }

  @Test
  void meet_independentMasters_nothingIsSaidAgainstThem() {
    assertThat(meet(0, master("x"))).isNull();
    assertThat(meet(1, master("y"))).isNull();
    assertThat(meet(0, master("x"))).as("checked again").isNull();
    assertThat(meet(0, master("x2"))).as("restarted").isNull();
  }

  @Test
  void meet_sameServer_theSecondIsRefusedByTheFirstsName_untilItLeadsElsewhere() {
    assertThat(meet(1, master("x"))).isNull();
    assertThat(meet(0, master("x"))).contains("the same server as b", "x");
    assertThat(meet(1, master("x"))).as("the first keeps its vote").isNull();
    assertThat(meet(0, master("y"))).isNull();
  }

  @Test
  void meet_replicaComesFirst_itsMasterIsNotKeptOut() {
    assertThat(meet(0, server("r", "slave", "shared", false))).isNull();
    assertThat(meet(1, server("m", "master", "shared", false))).isNull();
    assertThat(meet(0, server("r", "slave", "shared", false)))
        .contains("in one replication with b");
  }

  @Test
  void meet_twoNodesInClusterMode_theSecondIsRefused() {
    assertThat(meet(0, server("x", "master", "1", true))).isNull();
    assertThat(meet(1, server("y", "master", "2", true))).contains("cluster mode", "a");
    assertThat(meet(2, master("z"))).isNull();
  }

  @Test
  void meet_replicationUnknown_isNotTakenForShared() {
    assertThat(meet(0, server("x", "master", "", false))).isNull();
    assertThat(meet(1, server("y", "master", "", false))).isNull();
  }

  @Test
  void meet_infoRefused_sameMarkerShowsOneServer() {
    assertThat(independence.check(0, null, "m1")).isNull();
    assertThat(independence.check(1, null, "m1")).contains("the same server as a", "INFO");
    assertThat(independence.check(2, null, "m2")).isNull();
    assertThat(independence.check(2, master("z"), "m1")).as("refused at one of them").isNotNull();
    assertThat(independence.check(0, null, "m3")).isNull();
    assertThat(independence.check(1, null, "m1")).as("leads elsewhere").isNull();
  }

  @Test
  void meet_markerWithAPercentSign_isQuoted() {
    assertThat(independence.check(0, null, "5%")).isNull();
    assertThat(independence.check(1, null, "5%")).contains("the same server as a", "marker 5%,");
  }

  @Test
  void meet_infoTellsThemApart_sameMarkerIsACopyOfData() {
    assertThat(independence.check(0, master("x"), "m")).isNull();
    assertThat(independence.check(1, master("y"), "m")).isNull();
  }

  @Test
  void meet_noMarker_isNotTakenForTheSame() {
    assertThat(independence.check(0, null, "")).isNull();
    assertThat(independence.check(1, null, "")).isNull();
  }

  record Named(String name) implements LockNode {
    @Override
    public void start(LockNode.Context context) {}

    @Override
    public NodeStatus status() {
      return new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "");
    }

    @Override
    public void send(LockRequest request, Consumer<NodeReply> handler) {}

    @Override
    public void close() {}
  }
}
