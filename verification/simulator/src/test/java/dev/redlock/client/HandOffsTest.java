package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.internal.WaitProbe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A process hands its lock off a limited number of times in a row. Then other processes get the
 * lock.
 */
class HandOffsTest {
  private static final Duration WAIT = Duration.ofMinutes(1);
  private static final int MOST = 4;

  private final LockOptions options = LockOptions.builder().maxHandOffs(MOST).build();

  private static void enter(Redlock client, LockOptions options, char who, StringBuilder order) {
    client
        .lock("contended", options)
        .acquireAsync(WAIT)
        .thenCompose(
            lease -> {
              order.append(who);
              return lease.releaseAsync();
            });
  }

  /** Holds the lock for as long as one request takes. So a waiter has asked before the release. */
  private void stay(VirtualNodes nodes, Redlock client, char who, StringBuilder order) {
    long section = VirtualNodes.ROUND_TRIP.toNanos();
    client
        .lock("contended", options)
        .acquireAsync(WAIT)
        .thenAccept(
            lease -> {
              order.append(who);
              nodes.time().schedule(lease::releaseAsync, section);
            });
  }

  @Test
  void handOffs_whileAnotherClientAsks_endAfterTheirBoundAndItComes() {
    for (int run = 0; run < 200; run++) {
      try (VirtualNodes nodes = new VirtualNodes(5)) {
        StringBuilder order = new StringBuilder();
        Redlock one = nodes.client();
        Redlock two = nodes.client();
        for (int i = 0; i < 200; i++) {
          stay(nodes, one, 'a', order);
        }
        nodes.time().pass(Duration.ofNanos(50_000)); // The client has asked, and has no reply yet.
        int asked = order.length();
        for (int i = 0; i < 20; i++) {
          stay(nodes, two, 'b', order);
        }
        nodes.time().passUntil(() -> order.length() == 220, Duration.ofSeconds(10));
        String[] before = order.substring(asked, order.lastIndexOf("b")).split("b", -1);
        // The current series of hand-offs may be too far advanced to learn of the other process.
        // The next series ends with a pause.
        assertThat(before)
            .as("how many came first: " + order)
            .hasSize(20)
            .allMatch(as -> as.length() <= 2 * (MOST + 1));
      }
    }
  }

  /**
   * The home node's reply to a release reports other waiters. It arrives when the replies of all
   * other nodes are old.
   */
  @Test
  void handOffs_whileAnotherClientAsksASlowHomeNode_endAtTheirBoundAndItIsServed() {
    for (int run = 0; run < 20; run++) {
      try (VirtualNodes nodes = new VirtualNodes(3)) {
        nodes
            .node(1)
            .delay(VirtualNodes.ROUND_TRIP.multipliedBy(20)); // The home node of this name.
        StringBuilder order = new StringBuilder();
        Redlock one = nodes.client();
        Redlock two = nodes.client();
        for (int i = 0; i < 200; i++) {
          stay(nodes, one, 'a', order);
        }
        nodes.time().pass(Duration.ofMillis(10));
        stay(nodes, two, 'b', order);
        nodes.time().passUntil(() -> order.indexOf("b") >= 0, Duration.ofSeconds(10));
        assertThat(order.indexOf("b"))
            .as("how many came first")
            .isLessThanOrEqualTo(3 * (MOST + 1));
      }
    }
  }

  @Test
  void handOffs_whileNoOtherClientWaits_continueWithoutAPause() {
    try (VirtualNodes nodes = new VirtualNodes(5)) {
      Redlock one = nodes.client();
      StringBuilder order = new StringBuilder();
      long begun = nodes.time().nanos();
      for (int i = 0; i < 100; i++) {
        enter(one, options, 'a', order);
      }
      nodes.time().passUntil(() -> order.length() == 100, Duration.ofSeconds(10));
      double roundTrips =
          (nodes.time().nanos() - begun) / (double) VirtualNodes.ROUND_TRIP.toNanos();
      // One round trip each. To free the lock and acquire it again would cost one more.
      assertThat(roundTrips / 100).isLessThanOrEqualTo(1.3);
    }
  }

  @Test
  void handOff_needsNoRound_onlyWithTheSameOptions() {
    assertThat(rounds(options, options)).isEqualTo(1);
    LockOptions longer = options.toBuilder().leaseTime(Duration.ofSeconds(20)).build();
    assertThat(rounds(options, longer)).isEqualTo(2);
  }

  @Test
  void handOff_ofLeasesThatAreNotExtended_isARoundSoThatEachHasItsWholeLeaseTime() {
    LockOptions fixed = options.toBuilder().autoExtend(false).build();
    assertThat(rounds(fixed, fixed)).isEqualTo(2);
  }

  /** The rounds until a lease with the first options was handed off to a waiter with the second. */
  private static int rounds(LockOptions first, LockOptions second) {
    try (VirtualNodes nodes = new VirtualNodes(3)) {
      int[] rounds = {0};
      Redlock one =
          nodes.client(
              new WaitProbe() {
                @Override
                public void onRound(List<String> names, boolean homeOnly) {
                  rounds[0]++;
                }
              });
      StringBuilder order = new StringBuilder();
      enter(one, first, '0', order);
      nodes.time().passUntil(() -> order.length() == 1, Duration.ofSeconds(10));
      nodes.time().pass(Duration.ofMillis(10)); // The client collects events for this time.
      rounds[0] = 0; // The first round learned the clocks of the nodes.
      enter(one, first, '1', order);
      enter(one, second, '2', order);
      nodes.time().passUntil(() -> order.length() == 3, Duration.ofSeconds(10));
      nodes.time().pass(Duration.ofMillis(10));
      return rounds[0];
    }
  }

  @Test
  void handOffs_notWanted_neverHappen() {
    try (VirtualNodes nodes = new VirtualNodes(3)) {
      Redlock one = nodes.client();
      LockOptions none = LockOptions.builder().maxHandOffs(0).build();
      List<LeaseEnd> ends = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        one.lock("contended", none)
            .acquireAsync(WAIT)
            .thenAccept(
                lease -> {
                  lease.whenEnded().thenAccept(ends::add);
                  lease.releaseAsync();
                });
      }
      nodes.time().passUntil(() -> ends.size() == 10, Duration.ofSeconds(10));
      assertThat(ends).containsOnly(LeaseEnd.RELEASED);
    }
  }

  @Test
  void lease_notExtended_endsNoLaterThanItsDeadline() {
    try (VirtualNodes nodes = new VirtualNodes(5)) {
      Redlock one = nodes.client();
      for (int millis : new int[] {50, 200, 1000, 10_000, 30_000}) {
        LockOptions brief =
            LockOptions.builder()
                .leaseTime(Duration.ofMillis(millis))
                .nodeTimeout(Duration.ofMillis(10))
                .autoExtend(false)
                .build();
        List<Lease> got = new ArrayList<>();
        one.lock("brief", brief).acquireAsync(WAIT).thenAccept(got::add);
        nodes.time().passUntil(() -> !got.isEmpty(), Duration.ofSeconds(1));
        Lease lease = got.get(0);
        long deadline = nodes.time().nanos() + lease.remainingValidity().toNanos();
        List<Long> told = new ArrayList<>();
        lease
            .whenEnded()
            .thenAccept(
                end -> {
                  assertThat(end).isEqualTo(LeaseEnd.EXPIRED);
                  told.add(nodes.time().nanos());
                });
        nodes.time().pass(Duration.ofMinutes(1));
        assertThat(told).hasSize(1);
        assertThat(told.get(0)).isBetween(deadline - 10_000_000, deadline);
        assertThat(lease.isValid()).isFalse();
      }
    }
  }
}
