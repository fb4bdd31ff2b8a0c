package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A listener receives enough to count callers, hand-offs, hints and requests. */
class ObservationTest {
  private static final Duration WAIT = Duration.ofMinutes(1);

  private final VirtualNodes nodes = new VirtualNodes(3);
  private final Told told = new Told();

  private static final class Told implements RedlockListener {
    final List<String> events = new ArrayList<>();
    final Map<String, Long> requests = new HashMap<>();
    Duration validityLeft = WAIT;
    final List<String> pendingReleases = new ArrayList<>();

    @Override
    public void onWaiterJoined(Caller caller) {
      events.add("joined " + caller.names());
    }

    @Override
    public void onWaiterLeft(
        Caller caller, AcquireVerdict verdict, Duration waited, @Nullable AcquireReport report) {
      events.add("left " + verdict);
    }

    @Override
    public void onHandOff(List<String> names, HandOff kind) {
      events.add("hand-off " + kind);
    }

    @Override
    public void onHint(List<String> names, boolean useful) {
      events.add("hint " + useful);
    }

    @Override
    public void onEnded(Lease lease, LeaseEnd end, Duration held, Duration validityLeft) {
      events.add("ended " + end + " " + held.toSeconds());
      this.validityLeft = validityLeft;
    }

    @Override
    public void onNodeRequests(NodeRequests r) {
      requests.merge(r.node() + " " + r.operation() + " " + r.result(), r.count(), Long::sum);
    }

    @Override
    public void onPendingReleases(String node, int pending) {
      pendingReleases.add(node + " " + pending);
    }
  }

  /** Harms neither locks nor other listeners. */
  private static final RedlockListener HOSTILE =
      new RedlockListener() {
        @Override
        public void onWaiterJoined(Caller caller) {
          throw new StackOverflowError("on purpose");
        }

        @Override
        public void onWaiterLeft(
            Caller caller, AcquireVerdict v, Duration waited, @Nullable AcquireReport report) {
          throw new IllegalStateException("on purpose");
        }
      };

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

  private void release(Lease lease) {
    CompletableFuture<Void> done = lease.releaseAsync().toCompletableFuture();
    nodes.time().passUntil(done::isDone, WAIT);
    nodes.time().pass(Duration.ofMillis(10));
  }

  @Test
  void callers_joinAndLeaveOnce_whateverTheirEnd() {
    LockOptions one = LockOptions.builder().queueBound(1).build();
    Redlock client = nodes.client(HOSTILE, told);
    DistributedLock lock = client.lock("a", one);
    Lease held = acquire(lock);
    lock.tryAcquireAsync();
    CompletableFuture<Lease> waits = lock.acquireAsync(WAIT);
    lock.acquireAsync(WAIT);
    waits.cancel(true);
    lock.acquireAsync(Duration.ofSeconds(2));
    nodes.time().pass(Duration.ofSeconds(3));
    release(held);
    client.close();
    lock.tryAcquireAsync();
    assertThat(told.events)
        .containsExactly(
            "joined [a]",
            "left ACQUIRED",
            "joined [a]",
            "left HELD_LOCALLY",
            "joined [a]",
            "joined [a]",
            "left QUEUE_FULL",
            "left CANCELLED",
            "joined [a]",
            "left HELD_LOCALLY",
            "ended RELEASED 3",
            "joined [a]",
            "left CLOSED");
    assertThat(told.validityLeft).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(30));
  }

  @Test
  void handOff_betweenCallersOfOneClient_isLocal() {
    DistributedLock lock = nodes.client(told).lock("a");
    Lease held = acquire(lock);
    CompletableFuture<Lease> next = lock.acquireAsync(WAIT);
    hear();
    told.events.clear();
    held.releaseAsync();
    nodes.time().passUntil(next::isDone, WAIT);
    hear();
    assertThat(told.events)
        .satisfiesExactly(
            e -> assertThat(e).isEqualTo("ended HANDED_OFF 0"),
            e -> assertThat(e).isEqualTo("hand-off LOCAL"),
            e -> assertThat(e).isEqualTo("left ACQUIRED"));
    release(next.join());
  }

  @Test
  void handOff_fromAnotherProcess_isToldWithAUsefulHint() {
    Lease held = acquire(nodes.client().lock("a"));
    CompletableFuture<Lease> next = nodes.client(told).lock("a").acquireAsync(WAIT);
    nodes.time().pass(Duration.ofMillis(20));
    held.releaseAsync();
    nodes.time().passUntil(next::isDone, WAIT);
    hear();
    assertThat(told.events)
        .contains("hand-off PROCESS", "hint true")
        .endsWith("left ACQUIRED")
        .doesNotContain("hint false");
    release(next.join());
  }

  @Test
  void requests_ofOneAcquire_areCountedPerNodeTwiceASecond() {
    Redlock client = nodes.client(told);
    release(acquire(client.lock("a")));
    assertThat(told.requests).isEmpty();
    nodes.time().pass(Duration.ofSeconds(1));
    assertThat(told.requests)
        .containsEntry("node-0 ACQUIRE GRANTED", 1L)
        .containsEntry("node-1 ACQUIRE GRANTED", 1L)
        .containsEntry("node-2 ACQUIRE GRANTED", 1L)
        .containsEntry("node-0 RELEASE RELEASED", 1L)
        .containsEntry("node-1 RELEASE RELEASED", 1L)
        .containsEntry("node-2 RELEASE RELEASED", 1L);
  }

  @Test
  void pendingReleases_ofADeadNode_areToldWhenTheyChange() {
    Redlock client = nodes.client(told);
    Lease held = acquire(client.lock("a"));
    nodes.time().pass(Duration.ofSeconds(1));
    nodes.node(2).kill();
    held.releaseAsync();
    nodes.time().pass(Duration.ofSeconds(2));
    nodes.node(2).restart();
    nodes.time().pass(Duration.ofSeconds(2));
    assertThat(told.pendingReleases).containsExactly("node-2 1", "node-2 0");
  }

  @Test
  void requestsOfOperators_endAtTheNodeTimeout_andAreCounted() {
    Redlock client = nodes.client(told);
    Lease lease = acquire(client.lock("a"));
    nodes.node(2).hang();
    var seen = client.operations().inspect("a").toCompletableFuture();
    nodes.time().pass(client.defaultOptions().nodeTimeout().minusMillis(1));
    assertThat(seen).isNotDone();
    nodes.time().pass(Duration.ofMillis(1));
    assertThat(seen).isCompletedWithValueMatching(s -> s.nodes().get(2).error() != null);
    var broken = client.operations().breakLock("a").toCompletableFuture();
    nodes.time().passUntil(broken::isDone, WAIT);
    assertThat(broken).isCompleted();
    assertThat(lease.isValid()).isFalse();
    nodes.time().pass(Duration.ofSeconds(1));
    assertThat(told.requests)
        .containsEntry("node-0 INSPECT HELD", 2L)
        .containsEntry("node-0 BREAK RELEASED", 1L);
  }

  /** Nodes send no invalidation of what this client's own connection has written. */
  @Test
  void waiter_whoseClientBreaksTheLock_hasItBeforeItsPoll() {
    acquire(nodes.client().lock("a"));
    Redlock client = nodes.client();
    CompletableFuture<Lease> next = client.lock("a").acquireAsync(WAIT);
    nodes.time().pass(Duration.ofMillis(20));
    client.operations().breakLock("a");
    nodes.time().passUntil(next::isDone, Duration.ofMillis(100));
  }
}
