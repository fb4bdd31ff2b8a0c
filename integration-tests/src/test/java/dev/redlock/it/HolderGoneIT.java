package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.harness.ForkedJvm;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** If a holder dies or forgets its lease, the lock becomes free, and no later than necessary. */
@RedisTest(nodes = 5)
@Tag("thorough")
class HolderGoneIT {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final LockOptions BRIEF =
      Clients.options()
          // A pause of the holder's JVM must not end the lease before the test kills the JVM.
          .leaseTime(Duration.ofSeconds(4))
          .pollInterval(Duration.ofMinutes(1))
          .build();

  private final RedisNodes nodes;

  HolderGoneIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Test
  void holderJvmKilled_nextWaiterIsGrantedAsSoonAsAQuorumIsFree() throws Exception {
    long[] late = new long[5];
    try (Redlock redlock = Clients.start(nodes)) {
      for (int i = 0; i < late.length; i++) {
        try (ForkedJvm holder = ForkedJvm.start(Holder.class, String.join(",", nodes.uris()))) {
          holder.awaitLine("held"::equals, Duration.ofMinutes(2));
          CompletableFuture<Long> in =
              redlock
                  .lock("orphaned", BRIEF)
                  .acquireAsync(WAIT)
                  .thenApply(
                      lease -> {
                        long now = System.nanoTime();
                        lease.releaseAsync();
                        return now;
                      });
          Eventually.holds(() -> Clients.isWanted(nodes, "orphaned"), nodes);
          holder.kill();
          long[] free = new long[5];
          for (RedisNode node : nodes) {
            long left = (Long) node.command("PTTL", Clients.lockKey("orphaned"));
            free[node.index()] = System.nanoTime() + Math.max(0, left) * 1_000_000;
          }
          Arrays.sort(free);
          late[i] = (in.get(10, TimeUnit.SECONDS) - free[2]) / 1_000_000;
        }
      }
    }
    Arrays.sort(late);
    System.out.println("holder killed: next in after " + Arrays.toString(late) + " ms");
    assertThat(late[2]).as("median ms after a quorum's keys are gone").isLessThanOrEqualTo(150);
    assertThat(late[4]).as("longest").isLessThan(5_000);
  }

  /** Holds until it is killed. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] args) throws Exception {
      Redlock redlock =
          Clients.voting(
              Redlock.builder().nodes(args[0].split(",")).restartGuard(RestartGuard.OFF).build(),
              5);
      Lease lease = redlock.lock("orphaned", BRIEF).acquire(WAIT);
      System.out.println("held");
      new CompletableFuture<Void>().get();
      lease.close();
    }
  }

  @Test
  void leaseObjectForgotten_isNoLongerExtended() {
    try (Redlock redlock = Clients.voting(Clients.on(nodes).traceLeaks(true).build(), 5);
        Redlock other = Clients.start(nodes)) {
      forget(redlock);
      Eventually.holds(
          () -> {
            System.gc();
            return other
                .lock("forgotten", BRIEF)
                .tryAcquire()
                .map(HolderGoneIT::release)
                .orElse(false);
          },
          Duration.ofSeconds(15),
          nodes);
    }
  }

  private static void forget(Redlock redlock) {
    assertThat(redlock.lock("forgotten", BRIEF).acquire(WAIT).isValid()).isTrue();
  }

  private static boolean release(Lease lease) {
    lease.close();
    return true;
  }
}
