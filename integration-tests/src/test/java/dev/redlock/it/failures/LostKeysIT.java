package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.AcquireReport.Vote;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.operations.Diagnosis.NodeFindings;
import dev.redlock.operations.LockInspection.NodeView;
import dev.redlock.operations.NodeState;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys that disappear too early or stay too long: eviction, a flush, a clock that is set back. */
@RedisTest(nodes = 5)
@Tag("thorough")
class LostKeysIT {
  private static final Duration WAIT = Duration.ofSeconds(10);
  private static final Duration LONGEST = Duration.ofSeconds(3);

  private final RedisNodes nodes;

  LostKeysIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  private static void memory(RedisNode node, String policy, String most) {
    node.command("CONFIG", "SET", "maxmemory-policy", policy);
    node.command("CONFIG", "SET", "maxmemory", most);
  }

  /** H6: under memory pressure a policy that evicts takes lock keys; noeviction refuses writes. */
  @Test
  void eviction_onTwoOfFive_takesEveryLockKey_admitsNoOther_andIsRepaired() {
    LockOptions options = LockOptions.builder().leaseTime(Duration.ofSeconds(9)).build();
    List<Lease> leases = new ArrayList<>();
    try (Redlock redlock = Clients.patient(nodes);
        Redlock other =
            Clients.voting(Clients.on(nodes).nodeTimeout(Duration.ofSeconds(1)).build(), 5)) {
      for (int i = 0; i < 20; i++) {
        leases.add(redlock.lock("evicted-" + i, options).acquire(WAIT));
      }
      Eventually.holds(() -> nodes.stream().allMatch(node -> kept(node) == 20), nodes);
      memory(nodes.get(0), "volatile-lru", "1");
      memory(nodes.get(1), "volatile-lru", "1");
      memory(nodes.get(2), "noeviction", "1");
      Eventually.holds(() -> kept(nodes.get(0)) + kept(nodes.get(1)) == 0, nodes);
      assertThat(kept(nodes.get(2))).as("with noeviction").isEqualTo(20);
      for (int i = 0; i < 20; i++) {
        assertThat(tryOnce(other, "evicted-" + i)).isEmpty();
      }
      assertThatThrownBy(() -> other.lock("another").tryAcquire())
          .isInstanceOfSatisfying(
              QuorumUnavailableException.class,
              e -> assertThat(e.report().votes().get(2).error()).contains("OUT_OF_MEMORY"));
      nodes.forEach(node -> memory(node, "noeviction", "0"));
      Eventually.holds(() -> nodes.stream().allMatch(node -> kept(node) == 20), WAIT, nodes);
      assertThat(leases).allMatch(Lease::isValid);
      leases.forEach(Lease::close);
    } finally {
      nodes.forEach(node -> memory(node, "noeviction", "0"));
    }
  }

  private static long kept(RedisNode node) {
    long kept = 0;
    for (int i = 0; i < 20; i++) {
      kept += Clients.holdsKey(node, "evicted-" + i) ? 1 : 0;
    }
    return kept;
  }

  /** Empty also if too few nodes could reply. */
  private static Optional<Lease> tryOnce(Redlock redlock, String name) {
    try {
      return redlock.lock(name).tryAcquire();
    } catch (QuorumUnavailableException e) {
      return Optional.empty();
    }
  }

  /** H4: a key whose node's clock was set back lives for another hour, and its holder is dead. */
  @Test
  void clockSetBack_holderCrashed_itsKeyKeepsNoOtherOut_andIsSeen(@TempDir Path scratch) {
    Optional<ClockShim> shim = ClockShim.compile(scratch);
    RedisNodes.Builder three = RedisNodes.builder().count(3);
    shim.ifPresent(clock -> three.binary(clock.server()));
    try (RedisNodes clocks = three.start();
        Redlock redlock = Clients.patient(clocks)) {
      String key = Clients.lockKey("hour");
      for (RedisNode node : clocks) {
        node.command("SET", key, "crashed client", "PX", "1500");
      }
      RedisNode back = clocks.get(0);
      if (shim.isPresent()) {
        shim.get().set(back.directPort(), -TimeUnit.HOURS.toMicros(1));
      } else {
        back.command("PEXPIRE", key, "3601500");
      }
      try (Lease lease = redlock.lock("hour").acquire(WAIT);
          Redlock other = Clients.patient(clocks)) {
        NodeView view =
            redlock
                .operations()
                .inspect("hour")
                .toCompletableFuture()
                .orTimeout(5, TimeUnit.SECONDS)
                .join()
                .nodes()
                .get(0);
        assertThat(view.remaining()).isGreaterThan(Duration.ofMinutes(59));
        assertThat(tryOnce(other, "hour")).isEmpty();
        lease.extendAsync().toCompletableFuture().join();
        assertThat(lease.isValid()).isTrue();
        if (shim.isPresent()) {
          NodeFindings found =
              redlock
                  .operations()
                  .doctor()
                  .toCompletableFuture()
                  .orTimeout(5, TimeUnit.SECONDS)
                  .join()
                  .nodes()
                  .get(0);
          assertThat(found.complaints()).anyMatch(c -> c.contains("behind the other"));
        }
      }
      redlock.lock("hour").acquire(WAIT).close();
      assertThat(Clients.holdsKey(back, "hour")).as("the key is that of the dead holder").isTrue();
    }
  }

  private Redlock guarded() {
    Redlock redlock =
        Redlock.builder()
            .nodes(nodes.uris().toArray(String[]::new))
            .defaults(LockOptions.builder().leaseTime(LONGEST).build())
            .maxLeaseTime(LONGEST)
            .build();
    Eventually.holds(
        () ->
            redlock.operations().nodes().stream()
                .allMatch(node -> node.state() == NodeState.State.VOTING),
        Duration.ofSeconds(20),
        nodes);
    return redlock;
  }

  /** H7: every connected client learns of a flush before any reply that came after it. */
  @Test
  void flush_ofVotingMasters_isReported_andTheyAreQuarantinedAtOnce() throws Exception {
    try (Redlock redlock = guarded();
        Redlock other = guarded()) {
      Lease lease = redlock.lock("flushed").acquire(WAIT);
      Eventually.holds(() -> copies() == 5, nodes);
      RedisNode first = nodes.get(3);
      first.flush();
      // The holder writes its key to the node again. For the other client the node stays in
      // quarantine, for longer than any lease. At first it only knows that the marker has changed.
      Eventually.holds(
          () -> {
            NodeState seen = other.operations().nodes().get(3);
            return seen.state() == NodeState.State.QUARANTINED
                && seen.cause().contains("flush")
                && seen.remaining().compareTo(LONGEST) > 0;
          },
          nodes);
      Eventually.holds(() -> copies() == 5, nodes);
      assertThat(tryOnce(other, "flushed")).isEmpty();
      assertThat(lease.isValid()).isTrue();

      nodes.forEach(RedisNode::flush);
      while (lease.isValid()) {
        assertThat(tryOnce(other, "flushed")).as("a second lease").isEmpty();
      }
      assertThat(lease.whenEnded().toCompletableFuture().get(1, TimeUnit.SECONDS))
          .isIn(LeaseEnd.EXPIRED, LeaseEnd.LOST);
      assertThatThrownBy(() -> other.lock("flushed").tryAcquire())
          .isInstanceOfSatisfying(
              QuorumUnavailableException.class,
              e -> assertThat(e.report().count(Vote.QUARANTINED)).isEqualTo(5));
    }
  }

  private long copies() {
    return nodes.stream().filter(node -> Clients.holdsKey(node, "flushed")).count();
  }
}
