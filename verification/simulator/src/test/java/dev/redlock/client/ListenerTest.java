package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.LockQueueFullException;
import dev.redlock.Redlock;
import dev.redlock.internal.WaitProbe;
import dev.redlock.internal.protocol.WakeUp;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A listener receives every event of waiting, refusal and extension. */
class ListenerTest {
  private static final Duration WAIT = Duration.ofMinutes(1);

  private final VirtualNodes nodes = new VirtualNodes(3);
  private final Told told = new Told();

  private static final class Told implements WaitProbe {
    final List<String> events = new ArrayList<>();
    final List<WakeUp> wakeUps = new ArrayList<>();

    @Override
    public void onWaiterLeft(
        Caller caller, AcquireVerdict verdict, Duration waited, @Nullable AcquireReport report) {
      if (verdict == AcquireVerdict.QUEUE_FULL) {
        events.add("turned away " + caller.names());
      } else if (report != null) {
        events.add("refused " + report.names() + " " + report.verdict());
      }
    }

    @Override
    public void onExtended(Lease lease, int repaired) {
      events.add("extended " + lease.names() + " " + repaired);
    }

    @Override
    public void onExtendFailed(Lease lease, Duration remainingValidity) {
      events.add("extend failed " + lease.names() + " " + remainingValidity.toSeconds());
    }

    @Override
    public void onEnded(Lease lease, LeaseEnd end, Duration held, Duration validityLeft) {
      events.add("ended " + lease.names() + " " + end);
    }

    @Override
    public void onWakeUp(List<String> names, WakeUp cause) {
      wakeUps.add(cause);
    }
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  /** The client collects the events that follow for this time. */
  private void hear() {
    nodes.time().pass(Duration.ofMillis(10));
  }

  private Lease acquire(DistributedLock lock) {
    CompletableFuture<Lease> lease = lock.acquireAsync(WAIT);
    nodes.time().passUntil(lease::isDone, WAIT);
    return lease.join();
  }

  @Test
  void queue_fullAndShrinking_isReported() {
    LockOptions two = LockOptions.builder().queueBound(2).build();
    DistributedLock lock = nodes.client(told).lock("a", two);
    Lease held = acquire(lock);
    CompletableFuture<Lease> first = lock.acquireAsync(WAIT);
    CompletableFuture<Lease> second = lock.acquireAsync(Duration.ofSeconds(3));
    CompletableFuture<Lease> third = lock.acquireAsync(WAIT);
    assertThat(third)
        .isCompletedExceptionally()
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(LockQueueFullException.class);
    nodes.time().pass(Duration.ofSeconds(4));
    assertThat(second).isCompletedExceptionally();
    held.releaseAsync();
    nodes.time().passUntil(first::isDone, WAIT);
    hear();
    assertThat(told.events)
        .containsExactly("turned away [a]", "refused [a] HELD_LOCALLY", "ended [a] RELEASED");
    first.join().releaseAsync();
  }

  @Test
  void extension_withoutAQuorum_isReportedAsFailedAndLaterAsRepaired() {
    Lease held = acquire(nodes.client(told).lock("a"));
    nodes.node(0).kill();
    nodes.node(1).kill();
    CompletableFuture<Void> asked = held.extendAsync().toCompletableFuture();
    nodes.time().passUntil(asked::isDone, WAIT);
    assertThat(asked).isCompletedExceptionally();
    hear();
    assertThat(told.events).containsExactly("extend failed [a] 29");
    told.events.clear();
    nodes.node(0).restartEmpty();
    nodes.node(1).restartEmpty();
    nodes.time().pass(Duration.ofSeconds(1)); // The nodes get the lease as soon as they are back.
    assertThat(nodes.holding("a")).isEqualTo(3);
    nodes.node(0).delete("a"); // The node's reply is among the first two, which decide.
    nodes.time().pass(Duration.ofMillis(100));
    assertThat(told.events).contains("extended [a] 1");
    held.releaseAsync();
  }

  @Test
  void refusals_ofEachKind_areToldAsWhatTheyAre() {
    Redlock one = nodes.client();
    Redlock two = nodes.client(told);
    Lease held = acquire(one.lock("a"));
    two.lock("a").acquireAsync(Duration.ZERO);
    nodes.time().pass(Duration.ofSeconds(1));
    nodes.node(0).kill();
    nodes.node(1).kill();
    two.lock("a").tryAcquireAsync();
    nodes.time().pass(Duration.ofSeconds(1));
    assertThat(told.events)
        .containsExactly(
            "refused [a] " + AcquireVerdict.HELD, "refused [a] " + AcquireVerdict.UNAVAILABLE);
    held.releaseAsync();
  }

  @Test
  void wakeUp_byARelease_isAHint() {
    Redlock one = nodes.client();
    Redlock two = nodes.client(told);
    Lease held = acquire(one.lock("a"));
    CompletableFuture<Lease> next = two.lock("a").acquireAsync(WAIT);
    nodes.time().pass(Duration.ofMillis(10));
    held.releaseAsync();
    nodes.time().passUntil(next::isDone, Duration.ofMillis(10));
    hear();
    assertThat(told.wakeUps).containsOnly(WakeUp.HINT);
    next.join().releaseAsync();
  }

  @Test
  void wakeUp_whenNothingIsHeard_isAPoll() {
    Lease held = acquire(nodes.client().lock("a"));
    nodes.time().pass(Duration.ofMillis(10));
    CompletableFuture<Lease> next = nodes.client(told).lock("a").acquireAsync(WAIT);
    nodes.time().pass(Duration.ofSeconds(5));
    assertThat(told.wakeUps)
        .filteredOn(WakeUp.POLL::equals)
        .hasSizeBetween(3, 10); // Every second ± 50 %.
    next.cancel(true);
    held.releaseAsync();
  }
}
