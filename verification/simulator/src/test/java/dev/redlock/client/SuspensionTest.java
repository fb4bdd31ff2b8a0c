package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.AcquireVerdict;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A machine that sleeps: its monotonic clock stops, and leases expire on the nodes. */
class SuspensionTest {
  private static final Duration WAIT = Duration.ofMinutes(1);
  private static final Duration ASLEEP = Duration.ofSeconds(35);

  private static final int NODES = 3;

  private final VirtualNodes nodes = new VirtualNodes(NODES);
  private final DistributedLock lock = nodes.client().lock("a");

  @AfterEach
  void close() {
    nodes.close();
  }

  @Test
  void tryAcquire_suspendedAmongTheAnswers_isRefusedAsTooSlow() {
    for (int i = 0; i < NODES; i++) {
      nodes.node(i).delay(VirtualNodes.ROUND_TRIP.multipliedBy(2L * i + 1));
    }
    CompletableFuture<Optional<Lease>> asked = lock.tryAcquireAsync();
    nodes.time().pass(VirtualNodes.ROUND_TRIP.multipliedBy(2));
    nodes.time().suspend(ASLEEP);
    nodes.time().passUntil(asked::isDone, WAIT);
    assertThatThrownBy(asked::join)
        .cause()
        .isInstanceOfSatisfying(
            LockTimeoutException.class,
            e -> assertThat(e.report().verdict()).isEqualTo(AcquireVerdict.TOO_SLOW));
  }

  @Test
  void acquire_suspendedBeforeTheAnswersCame_asksAgain() {
    CompletableFuture<Lease> asked = lock.acquireAsync(WAIT);
    nodes.time().suspend(ASLEEP);
    nodes.time().passUntil(asked::isDone, WAIT);
    assertThat(asked.join().isValid()).isTrue();
    assertThat(asked.join().remainingValidity()).isGreaterThan(Duration.ofSeconds(29));
  }

  @Test
  void lease_suspendedForLongerThanItsTime_isNotValidOnWaking() {
    CompletableFuture<Lease> asked = lock.acquireAsync(WAIT);
    nodes.time().passUntil(asked::isDone, WAIT);
    Lease lease = asked.join();
    nodes.time().suspend(ASLEEP);
    assertThat(lease.isValid()).isFalse();
    nodes.time().pass(Duration.ofSeconds(1));
    assertThat(lease.whenEnded().toCompletableFuture()).isCompletedWithValue(LeaseEnd.EXPIRED);
  }
}
