package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.operations.NodeState;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The restart guard for servers that have been up longer than any lease and may still have
 * forgotten leases. The quarantine is 7 s here.
 */
@Tag("thorough")
class RestartGuardIT {
  private static final Duration LONGEST = Duration.ofSeconds(5);
  private static final Duration GUARD = Duration.ofSeconds(7);
  private static final String ADVICE = "known to be new may vote at once without the restart guard";
  private static final LockOptions LAZY =
      LockOptions.builder()
          .leaseTime(LONGEST)
          .nodeTimeout(Duration.ofSeconds(1))
          .autoExtend(false)
          .build();

  private static RedisNodes nodes;

  @BeforeAll
  static void startServersAndLetThemGrowOld() {
    nodes = RedisNodes.start(7);
    Eventually.holds(
        () -> nodes.stream().allMatch(node -> uptime(node) > GUARD.toSeconds()),
        GUARD.plusSeconds(20),
        nodes);
  }

  @AfterAll
  static void close() {
    nodes.close();
  }

  private static long uptime(RedisNode node) {
    return String.valueOf(node.command("INFO", "server"))
        .lines()
        .filter(line -> line.startsWith("uptime_in_seconds:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
        .findFirst()
        .orElseThrow();
  }

  private static Redlock client(String... uris) {
    return Redlock.builder().nodes(uris).maxLeaseTime(LONGEST).build();
  }

  private static Redlock client(int... which) {
    return client(Arrays.stream(which).mapToObj(i -> nodes.get(i).uri()).toArray(String[]::new));
  }

  private static NodeState state(Redlock redlock, int node) {
    return redlock.operations().nodes().get(node);
  }

  private static void awaitState(
      Redlock redlock, int node, NodeState.State state, Duration within) {
    Eventually.holds(
        () -> state(redlock, node).state() == state,
        within,
        () -> redlock.operations().nodes() + "\n" + nodes.describe());
  }

  /** Empty also if too few nodes could vote. */
  private static Optional<Lease> tryOnce(Redlock redlock, String name) {
    try {
      return redlock.lock(name, LAZY).tryAcquire();
    } catch (QuorumUnavailableException e) {
      return Optional.empty();
    }
  }

  @Test
  void replicaPromotedInThePlaceOfItsMaster_metByANewClient_isQuarantined_andKnownAfterwards() {
    RedisNode master = nodes.get(0);
    RedisNode replica = nodes.get(1);
    master.command("CONFIG", "SET", "repl-diskless-sync-delay", "0");
    String down = "redis://127.0.0.1:1";
    try (Redlock holder = client(master.uri(), nodes.get(2).uri(), down)) {
      assertThat(holder.awaitReady(Duration.ofSeconds(5)))
          .as(holder.operations().nodes().toString())
          .isTrue();
      replica.command("REPLICAOF", "127.0.0.1", Integer.toString(master.directPort()));
      Eventually.holds( // The marker is replicated, so it proves nothing.
          () -> replica.key("redlock:%node").isPresent(), Duration.ofSeconds(10), nodes);
      // The replication stream ends before the lease is granted.
      replica.command("REPLICAOF", "NO", "ONE");
      Lease held = tryOnce(holder, "promoted").orElseThrow();
      master.kill();
      // With the keys, the replica got the name of its master in the record of the set.
      try (Redlock other = client(replica.uri(), nodes.get(2).uri(), down)) {
        awaitState(other, 0, NodeState.State.QUARANTINED, Duration.ofSeconds(5));
        awaitState(other, 1, NodeState.State.VOTING, Duration.ofSeconds(5));
        Optional<Lease> second = tryOnce(other, "promoted");
        assertThat(held.isValid()).as("the test is fast enough").isTrue();
        assertThat(second).as("a second owner, while the first is valid").isEmpty();
        assertThat(state(other, 0).cause()).contains("promoted from a replica");
        assertThat(state(other, 0).remaining()).isPositive();
        held.close();

        awaitState(other, 0, NodeState.State.VOTING, GUARD.plusSeconds(3));
      }
      // Now the marker proves for how long the server has been a master.
      try (Redlock later = client(replica.uri(), nodes.get(2).uri(), down)) {
        awaitState(later, 0, NodeState.State.VOTING, Duration.ofSeconds(3));
      }
    }
  }

  @Test
  void flushThatAnotherClientSaw_aNewClientQuarantinesTheNode_andANewDeploymentDoesNot() {
    try (Redlock witness = client(4)) {
      awaitState(witness, 0, NodeState.State.VOTING, Duration.ofSeconds(5));
      nodes.get(4).flush();
      Eventually.holds(
          () -> "1".equals(nodes.get(4).command("HGET", "redlock:%node", "renewed")), nodes);
      awaitState(witness, 0, NodeState.State.QUARANTINED, Duration.ofSeconds(5));
      assertThat(state(witness, 0).cause()).contains("flush").doesNotContain(ADVICE);
      try (Redlock later = client(4)) {
        awaitState(later, 0, NodeState.State.QUARANTINED, Duration.ofSeconds(5));
        assertThat(state(later, 0).cause()).contains("was flushed or lost its data before");
        assertThat(state(later, 0).remaining()).isBetween(Duration.ofSeconds(1), GUARD);
      }
      try (Redlock fresh =
          Redlock.builder()
              .nodes(nodes.get(4).uri())
              .maxLeaseTime(LONGEST)
              .keyPrefix("fresh")
              .build()) {
        awaitState(fresh, 0, NodeState.State.VOTING, Duration.ofSeconds(3));
      }
    }
  }

  /** No server reports it; see docs/safety.md (#37). */
  @Test
  void swapdb_countsAsAFlush_whenTheMarkerIsReadNext() {
    try (Redlock witness = client(6)) {
      awaitState(witness, 0, NodeState.State.VOTING, Duration.ofSeconds(5));
      nodes.get(6).command("SWAPDB", "0", "1");
      witness.operations().doctor().toCompletableFuture().join();
      awaitState(witness, 0, NodeState.State.QUARANTINED, Duration.ofSeconds(5));
      assertThat(state(witness, 0).remaining()).isBetween(Duration.ofMillis(1), GUARD);
    }
  }

  @Test
  void flushedMaster_isNotAdvisedToSwitchTheGuardOff_aFreshOneIs() {
    nodes.get(5).restart();
    try (Redlock redlock = client(5)) {
      awaitState(redlock, 0, NodeState.State.QUARANTINED, Duration.ofSeconds(5));
      assertThat(refusal(redlock)).contains("started ", ADVICE);
      nodes.get(5).flush();
      Eventually.holds(() -> state(redlock, 0).cause().contains("flushed"), nodes);
      assertThat(refusal(redlock)).contains("flushed").doesNotContain(ADVICE);
    }
  }

  private static String refusal(Redlock redlock) {
    try {
      redlock.lock("refused", LAZY).tryAcquire();
      return "";
    } catch (QuorumUnavailableException e) {
      return e.getMessage();
    }
  }
}
