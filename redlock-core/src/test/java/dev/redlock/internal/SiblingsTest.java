package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyHandler;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Configured nodes that are not independent have one vote between them. */
class SiblingsTest {
  private final Siblings siblings =
      new Siblings(new NodeSet(List.of(new Named("a"), new Named("b"), new Named("c"))));

  private static NodeIdentity server(
      String runId, String role, String replication, boolean cluster) {
    return new NodeIdentity(
        runId, "redis", "7", 99, role, cluster, "noeviction", replication, 0, false, "", 0, "");
  }

  private static NodeIdentity master(String runId) {
    return server(runId, "master", "replication of " + runId, false);
  }

  @Test
  void meet_independentMasters_nothingIsSaidAgainstThem() {
    assertThat(siblings.meet(0, master("x"))).isNull();
    assertThat(siblings.meet(1, master("y"))).isNull();
    assertThat(siblings.meet(0, master("x"))).as("looked at again").isNull();
    assertThat(siblings.meet(0, master("x2"))).as("restarted").isNull();
  }

  @Test
  void meet_sameServer_theSecondIsRefusedByTheFirstsName_untilItLeadsElsewhere() {
    assertThat(siblings.meet(1, master("x"))).isNull();
    assertThat(siblings.meet(0, master("x"))).contains("the same server as b", "x");
    assertThat(siblings.meet(1, master("x"))).as("the first keeps its vote").isNull();
    assertThat(siblings.meet(0, master("y"))).isNull();
  }

  @Test
  void meet_replicaComesFirst_itsMasterIsNotKeptOut() {
    assertThat(siblings.meet(0, server("r", "slave", "shared", false))).isNull();
    assertThat(siblings.meet(1, server("m", "master", "shared", false))).isNull();
    assertThat(siblings.meet(0, server("r", "slave", "shared", false)))
        .contains("in one replication with b");
  }

  @Test
  void meet_twoNodesInClusterMode_theSecondIsRefused() {
    assertThat(siblings.meet(0, server("x", "master", "1", true))).isNull();
    assertThat(siblings.meet(1, server("y", "master", "2", true))).contains("cluster mode", "a");
    assertThat(siblings.meet(2, master("z"))).isNull();
  }

  @Test
  void meet_replicationUnknown_isNotTakenForShared() {
    assertThat(siblings.meet(0, server("x", "master", "", false))).isNull();
    assertThat(siblings.meet(1, server("y", "master", "", false))).isNull();
  }

  private record Named(String name) implements LockNode {
    @Override
    public void start(NodeContext context) {}

    @Override
    public NodeStatus status() {
      return new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "");
    }

    @Override
    public void send(LockRequest request, ReplyHandler handler) {}

    @Override
    public void close() {}
  }
}
