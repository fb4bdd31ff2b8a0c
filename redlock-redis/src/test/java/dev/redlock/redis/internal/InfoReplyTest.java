package dev.redlock.redis.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.NodeIdentity;
import org.junit.jupiter.api.Test;

class InfoReplyTest {

  @Test
  void info_isRead() {
    NodeIdentity identity =
        InfoReply.identity(
            """
            # Server
            redis_version:7.0.15
            run_id:0123abc
            uptime_in_seconds:77

            # Memory
            maxmemory_policy:allkeys-lru
            # Persistence
            aof_enabled:1
            # Replication
            role:slave
            connected_slaves:2
            master_replid:fff
            # Cluster
            cluster_enabled:1
            """
                .replace("\n", "\r\n"));

    assertThat(identity)
        .isEqualTo(
            new NodeIdentity(
                "0123abc",
                "redis",
                "7.0.15",
                77,
                "slave",
                true,
                "allkeys-lru",
                "fff",
                2,
                true,
                "",
                0,
                "",
                false,
                0,
                0,
                ""));
    assertThat(identity.replica()).isTrue();
  }

  @Test
  void valkey_isCalledByItsOwnVersion() {
    NodeIdentity identity =
        InfoReply.identity("redis_version:7.2.4\r\nvalkey_version:8.1.1\r\nrun_id:a\r\n");
    assertThat(identity.product()).isEqualTo("valkey");
    assertThat(identity.version()).isEqualTo("8.1.1");
    assertThat(identity.replica()).isFalse();
  }

  @Test
  void troubleWithDiskAndMemory_isRead() {
    NodeIdentity identity =
        InfoReply.identity("run_id:a\naof_last_write_status:err\nevicted_keys:12\n");
    assertThat(identity.writeTrouble()).contains("append-only file");
    assertThat(identity.evictedKeys()).isEqualTo(12);
    assertThat(InfoReply.identity("run_id:a\nrdb_last_bgsave_status:err\n").writeTrouble())
        .contains("snapshot");
    assertThat(identity.appendFsync()).isEmpty();
    assertThat(identity.asked("always", "").appendFsync()).isEqualTo("always");
  }

  private static boolean promoted(String role, String second, String offset) {
    return InfoReply.identity(
            "run_id:a\nrole:"
                + role
                + "\nmaster_replid2:"
                + second
                + "\nsecond_repl_offset:"
                + offset
                + "\n")
        .promoted();
  }

  @Test
  void promotion_isRead_ofAMasterThatHasASecondReplication() {
    String none = "0".repeat(40);
    String other = "f".repeat(40);
    assertThat(promoted("master", other, "15")).isTrue();
    assertThat(promoted("master", other, "-1")).isFalse();
    assertThat(promoted("master", none, "-1")).isFalse();
    assertThat(promoted("slave", other, "15")).isFalse();
    assertThat(InfoReply.identity("run_id:a\n").promoted()).isFalse();
  }

  @Test
  void memory_isRead() {
    NodeIdentity full = InfoReply.identity("run_id:a\nused_memory:95\nmaxmemory:100\n");
    assertThat(full.usedMemory()).isEqualTo(95);
    assertThat(full.maxMemory()).isEqualTo(100);
    assertThat(full.asked("no", "").maxMemory()).isEqualTo(100);
  }

  @Test
  void infoWithoutARun_isNone() {
    assertThat(InfoReply.identity("redis_version:7.0.15\r\n")).isNull();
    assertThat(InfoReply.identity("")).isNull();
    assertThat(InfoReply.identity("no colon\n:\nrun_id:x\nuptime_in_seconds:abc").uptimeSeconds())
        .isZero();
  }
}
