package dev.redlock.cluster.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.NodeIdentity;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The identity of a cluster, as the doctor receives it. */
class ClusterIdentityTest {
  private static NodeIdentity master(
      String policy, boolean appendOnly, String fsync, long evicted, String trouble) {
    return new NodeIdentity(
        "run",
        "redis",
        "7.0.15",
        99,
        "master",
        true,
        policy,
        "repl",
        1,
        appendOnly,
        fsync,
        evicted,
        trouble,
        false,
        0,
        0,
        "");
  }

  private static final NodeIdentity SOUND = master("noeviction", true, "always", 0, "");

  private static NodeIdentity whole(NodeIdentity... masters) {
    return ClusterIdentity.of("least", List.of(masters)).orElseThrow();
  }

  @Test
  void masters_noneKnown_isEmpty() {
    assertThat(ClusterIdentity.of("least", List.of())).isEmpty();
  }

  @Test
  void masters_allSound_clusterIsSound() {
    NodeIdentity whole = whole(SOUND, SOUND);
    assertThat(whole.runId()).isEqualTo("least");
    assertThat(whole.wholeCluster()).isTrue();
    assertThat(whole.maxmemoryPolicy()).isEqualTo("noeviction");
    assertThat(whole.appendOnly()).isTrue();
    assertThat(whole.appendFsync()).isEqualTo("always");
    assertThat(whole.connectedReplicas()).isZero();
    assertThat(whole.replicationId()).isEmpty();
  }

  @Test
  void masters_someEvictOrFailToWrite_clusterReportsIt_inEveryOrder() {
    NodeIdentity evicts = master("allkeys-lru", true, "everysec", 5, "");
    NodeIdentity troubled = master("noeviction", true, "always", 7, "its disk is full");
    for (NodeIdentity whole :
        List.of(whole(SOUND, evicts, troubled), whole(troubled, evicts, SOUND))) {
      assertThat(whole.maxmemoryPolicy()).isEqualTo("allkeys-lru");
      assertThat(whole.evictedKeys()).isEqualTo(12);
      assertThat(whole.writeTrouble()).isEqualTo("its disk is full");
      assertThat(whole.appendFsync()).isEqualTo("everysec");
    }
  }

  @Test
  void appendOnlyFile_missingOrUnknownAtOneMaster_clusterHasNone() {
    assertThat(whole(SOUND, master("noeviction", false, "", 0, "")).appendOnly()).isFalse();
    assertThat(whole(master("noeviction", true, "", 0, ""), SOUND).appendFsync()).isEmpty();
  }
}
