package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.election.LeaderElection;
import dev.redlock.internal.text.Printable;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Leases that their own client breaks, durations of all time, and unusual callers. */
@RedisTest(nodes = 3)
class LeaseEdgesIT extends OneClient {
  private static final Duration WAIT = Duration.ofSeconds(5);
  private static final Duration EVER = Duration.ofSeconds(Long.MAX_VALUE);

  LeaseEdgesIT(RedisNodes nodes) {
    super(nodes, Clients::patient);
  }

  /** Another client may have the name when the break completes (#37). */
  @Test
  void breakLock_completed_noLeaseOfThisClientIsValid() throws Exception {
    for (int i = 0; i < 10; i++) {
      Lease several = redlock.lock(List.of("edge-e", "edge-f")).acquire(WAIT);
      Lease one = redlock.lock("edge-g").acquire(WAIT);
      assertThat(validAfterBreak("edge-e", several)).as("lease of both names").isFalse();
      assertThat(validAfterBreak("edge-g", one)).as("lease of one name").isFalse();
    }
  }

  private boolean validAfterBreak(String name, Lease lease) throws Exception {
    return Clients.done(redlock.operations().breakLock(name).thenApply(before -> lease.isValid()));
  }

  @Test
  void breakLock_ofANameThatOurOwnMultiLockWaitsFor_wakesItUp() throws Exception {
    try (Redlock other = Clients.patient(nodes)) {
      Lease held = other.lock("edge-c").acquire(WAIT);
      CompletableFuture<Lease> waiting =
          redlock.lock(List.of("edge-c", "edge-d")).acquireAsync(WAIT);
      Eventually.holds(() -> Clients.isWanted(nodes, "edge-c"), nodes);
      redlock.operations().breakLock("edge-c").toCompletableFuture().get(3, TimeUnit.SECONDS);
      waiting.get(3, TimeUnit.SECONDS).close();
      assertThat(held.whenEnded().toCompletableFuture().get(3, TimeUnit.SECONDS))
          .isEqualTo(LeaseEnd.LOST);
    }
  }

  /** Work that tells of its start and of its stop. */
  private static final class Told implements LeaderElection.Work {
    private final CompletableFuture<Lease> started = new CompletableFuture<>();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    @Override
    public CompletionStage<?> startWork(Lease lease) {
      started.complete(lease);
      return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
      stopped.complete(null);
      return CompletableFuture.completedStage(null);
    }
  }

  @Test
  void election_withStopTimeoutOfAllTime_worksAndStops() throws Exception {
    Told work = new Told();
    LeaderElection election =
        LeaderElection.builder(redlock, "edge-election", work).stopTimeout(EVER).build();
    election.start();
    work.started.get(5, TimeUnit.SECONDS);
    election.stop().toCompletableFuture().get(5, TimeUnit.SECONDS);
    work.stopped.get(1, TimeUnit.SECONDS);
    Clients.gone(nodes, "edge-election");
  }

  @Test
  void durationOfAllTime_isRefusedWithTheNumber() {
    LeaderElection.Builder election = LeaderElection.builder(redlock, "e", new Told());
    assertThatThrownBy(() -> Clients.on(nodes).maxLeaseTime(EVER).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "maxLeaseTime " + Printable.of(EVER) + " must not be longer than 1 h");
    assertThatThrownBy(() -> election.stopMargin(EVER).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("stopMargin " + Printable.of(EVER));
    assertThatThrownBy(
            () -> LeaderElection.builder(redlock, "e", new Told()).retryPause(EVER).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("retryPause " + Printable.of(EVER));
  }

  @Test
  void tryLock_whileInterrupted_locksAndKeepsTheFlag() {
    ReentrantDistributedLock lock = redlock.reentrantLock("edge-thread");
    for (RedisNode node : nodes) {
      node.command("CLIENT", "PAUSE", "200"); // So that the caller has to wait.
    }
    Thread.currentThread().interrupt();
    boolean locked = lock.tryLock();
    boolean kept = Thread.interrupted();
    assertThat(locked).isTrue();
    assertThat(kept).isTrue();
    lock.unlock();
    Clients.gone(nodes, "edge-thread");
  }

  @Test
  void refusal_ofAThousandLongNames_hasAShortMessage() {
    List<String> names =
        IntStream.range(0, 1_000).mapToObj(i -> i + "-" + "n".repeat(200)).toList();
    try (Lease held = redlock.lock(names.get(500)).acquire(WAIT)) {
      assertThat(held.isValid()).isTrue();
      assertThatThrownBy(() -> redlock.lock(names).acquire(Duration.ZERO))
          .isInstanceOf(LockTimeoutException.class)
          .message()
          .contains(" and 990 more")
          .hasSizeLessThan(2_000);
    }
  }
}
