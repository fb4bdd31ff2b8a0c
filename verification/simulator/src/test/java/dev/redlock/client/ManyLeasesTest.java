package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * One client holds 600 leases of 12 s on nodes that execute 500 requests per second. To extend all
 * takes 1.2 s; a node timeout is 250 ms.
 */
class ManyLeasesTest {
  private static final int LEASES = 600;
  private static final Duration WORK = Duration.ofMillis(2);
  private static final Duration LEASE_TIME = Duration.ofSeconds(12);

  /** Extended a third of the lease time after the grant, and then paused: 1.9 s are left. */
  private static final Duration UNTIL_DUE = LEASE_TIME.dividedBy(3);

  private static final Duration PAUSE = Duration.ofSeconds(6);

  private final List<Lease> leases = new ArrayList<>();

  /** Holds the leases, which were granted together, lets this happen, and counts what is left. */
  private int heldAfter(Consumer<VirtualNodes> trouble) {
    try (VirtualNodes nodes = new VirtualNodes(3)) {
      Redlock redlock = nodes.client();
      LockOptions options = LockOptions.builder().leaseTime(LEASE_TIME).build();
      for (int i = 0; i < LEASES; i++) {
        CompletableFuture<Lease> asked =
            redlock.lock("name-" + i, options).acquireAsync(Duration.ofSeconds(10));
        var unused = asked.thenAccept(leases::add);
      }
      nodes.time().pass(Duration.ofMillis(200));
      assertThat(leases).hasSize(LEASES);
      for (int i = 0; i < 3; i++) {
        nodes.node(i).work(WORK);
      }
      nodes.time().pass(UNTIL_DUE.multipliedBy(3).dividedBy(4));
      trouble.accept(nodes);
      nodes.time().pass(LEASE_TIME.multipliedBy(2));
      int held = (int) leases.stream().filter(Lease::isValid).count();
      leases.forEach(Lease::releaseAsync);
      return held;
    }
  }

  @Test
  void leases_grantedTogether_areKept() {
    assertThat(heldAfter(nodes -> {})).isEqualTo(LEASES);
  }

  @Test
  void leases_afterAPauseOfTheClient_areKept() {
    int held =
        heldAfter(
            nodes -> {
              nodes.time().pass(UNTIL_DUE.dividedBy(4));
              nodes.time().pause(PAUSE, Duration.ZERO);
            });
    assertThat(held).isEqualTo(LEASES);
  }

  @Test
  void leases_thatAreDueTogetherAfterAPauseOfTheClient_areKeptIfTheNodesCanServeThem() {
    int held =
        heldAfter(nodes -> nodes.time().pause(PAUSE.plus(UNTIL_DUE.dividedBy(4)), Duration.ZERO));
    assertThat(held)
        .as("at most a twentieth is too late")
        .isGreaterThanOrEqualTo(LEASES * 95 / 100);
  }

  @Test
  void leases_afterAHangOfAllNodes_areKept() {
    int held =
        heldAfter(
            nodes -> {
              nodes.time().pass(UNTIL_DUE.dividedBy(4));
              for (int i = 0; i < 3; i++) {
                nodes.node(i).hang();
              }
              nodes.time().pass(PAUSE);
              for (int i = 0; i < 3; i++) {
                nodes.node(i).resume();
              }
            });
    assertThat(held)
        .as("at most a twentieth is too late")
        .isGreaterThanOrEqualTo(LEASES * 95 / 100);
  }

  @Test
  void leases_whileANodeHangs_areKept() {
    assertThat(heldAfter(nodes -> nodes.node(1).hang())).isEqualTo(LEASES);
  }
}
