package dev.redlock.examples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.harness.ForkedJvm;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What docs/choosing.md says about a lock-delay. */
@Timeout(120)
class DriftAsLockDelayTest {
  private static final Duration LEASE_TIME = Duration.ofSeconds(3);
  private static final Duration DRIFT = Duration.ofSeconds(2);
  private static final LockOptions OPTIONS =
      LockOptions.builder().leaseTime(LEASE_TIME).drift(DRIFT).autoExtend(false).build();
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static RedisNodes nodes;
  private static Redlock waiter;

  @BeforeAll
  static void start() {
    nodes = RedisNodes.start(3);
    waiter = Clients.connect(nodes.uris());
  }

  @AfterAll
  static void stop() {
    waiter.close();
    nodes.close();
  }

  @Tag("thorough")
  @Test
  void lease_ofAHolderThatIsStopped_isFollowedByNoGrantForTheDrift() {
    try (ForkedJvm holder = ForkedJvm.start(Holder.class, String.join(",", nodes.uris()))) {
      long end = Long.parseLong(holder.nextLine(PATIENCE));
      holder.pause();

      long gap = nextGrant("stopped") - end;

      // 1 % and 2 ms are what the clocks of nodes and clients may differ by.
      assertThat(gap)
          .isGreaterThanOrEqualTo(DRIFT.toNanos() - LEASE_TIME.toNanos() / 100 - 2_000_000);
    }
  }

  @Test
  void lease_ofAHolderThatRuns_isFreedAtItsEndWithoutADelay() {
    try (Redlock holder = Clients.connect(nodes.uris())) {
      Lease lease = holder.lock("running", OPTIONS).acquire(PATIENCE);
      long end = System.nanoTime() + lease.remainingValidity().toNanos();

      long gap = nextGrant("running") - end;

      // Not before the end of the holder's lease. The lease may end a little earlier than the
      // holder printed at first: the wall clock counts too, and it may run faster than the
      // monotonic clock.
      assertThat(lease.isValid()).isFalse();
      assertThat(gap).isLessThan(DRIFT.toNanos() - 500_000_000);
    }
  }

  private static long nextGrant(String name) {
    try (Lease next = waiter.lock(name).acquire(PATIENCE)) {
      assertThat(next.isValid()).isTrue();
      return System.nanoTime();
    }
  }

  /** Takes the lock, and prints when its validity ends, on the clock that all processes share. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] args) throws InterruptedException {
      Redlock redlock = Clients.connect(List.of(args[0].split(",")));
      Lease lease = redlock.lock("stopped", OPTIONS).acquire(PATIENCE);
      System.out.println(System.nanoTime() + lease.remainingValidity().toNanos());
      Thread.sleep(PATIENCE.toMillis());
      throw new AssertionError(lease + " was to be stopped");
    }
  }
}
