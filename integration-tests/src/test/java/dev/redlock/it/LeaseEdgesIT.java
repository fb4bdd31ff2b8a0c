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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Leases at the limits of their settings, and with unusual bodies and callers. */
@RedisTest(nodes = 3)
class LeaseEdgesIT {
  private static final Duration WAIT = Duration.ofSeconds(5);
  private static final Duration EVER = Duration.ofSeconds(Long.MAX_VALUE);

  private final RedisNodes nodes;
  private Redlock redlock;

  LeaseEdgesIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @BeforeEach
  void connect() {
    redlock = Clients.patient(nodes);
  }

  @AfterEach
  void disconnect() {
    redlock.close();
  }

  private void gone(String name) {
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, name), nodes);
    }
  }

  @Test
  void breakLock_ofANameOfOurOwnMultiLock_endsThatAtOnce() throws Exception {
    Lease several = redlock.lock(List.of("edge-a", "edge-b")).acquire(WAIT);
    // The lease time is 30 s: the next extension would come 10 s later.
    redlock.operations().breakLock("edge-b").toCompletableFuture().get(3, TimeUnit.SECONDS);
    assertThat(several.whenEnded().toCompletableFuture().get(2, TimeUnit.SECONDS))
        .isEqualTo(LeaseEnd.LOST);
    assertThat(several.isValid()).isFalse();
    gone("edge-a");
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
    return redlock
        .operations()
        .breakLock(name)
        .thenApply(before -> lease.isValid())
        .toCompletableFuture()
        .get(5, TimeUnit.SECONDS);
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

  @Test
  void extendAsync_closeToTheHoldCap_confirmsWhatIsLeft() throws Exception {
    Duration cap = Duration.ofSeconds(3);
    Lease lease =
        redlock
            .lock(
                "edge-cap",
                Clients.options()
                    .leaseTime(cap)
                    .drift(Duration.ZERO) // With drift zero the first validity reaches the cap.
                    .holdCap(cap)
                    .autoExtend(false)
                    .build())
            .acquire(WAIT);
    Duration before = lease.remainingValidity();
    lease.extendAsync().toCompletableFuture().get(2, TimeUnit.SECONDS);
    assertThat(lease.isValid()).isTrue();
    assertThat(lease.remainingValidity()).isLessThanOrEqualTo(before);
    // Verify it on the nodes.
    for (RedisNode node : nodes) {
      node.command("SET", Clients.lockKey("edge-cap"), "another", "PX", "1000");
    }
    assertThat(lease.extendAsync().toCompletableFuture())
        .failsWithin(Duration.ofSeconds(2))
        .withThrowableThat()
        .withMessageContaining("ended: LOST");
  }

  @Test
  void lease_withoutAHoldCap_isExtended() throws Exception {
    Lease lease = redlock.lock("edge-ever", Clients.options().noHoldCap().build()).acquire(WAIT);
    lease.extendAsync().toCompletableFuture().get(2, TimeUnit.SECONDS);
    assertThat(lease.remainingValidity()).isGreaterThan(Duration.ofSeconds(20));
    lease.close();
    gone("edge-ever");
  }

  @Test
  void maxLeaseTime_aboveTheLongestLeaseTime_isRefusedWithTheNumbers() {
    assertThatThrownBy(() -> Clients.on(nodes).maxLeaseTime(EVER).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "maxLeaseTime " + Printable.of(EVER) + " must not be longer than 1 h");
  }

  @Test
  void election_withStopTimeoutOfAllTime_worksAndStops() throws Exception {
    CompletableFuture<Lease> started = new CompletableFuture<>();
    CompletableFuture<Void> told = new CompletableFuture<>();
    LeaderElection election =
        LeaderElection.builder(
                redlock,
                "edge-election",
                new LeaderElection.Work() {
                  @Override
                  public CompletionStage<?> startWork(Lease lease) {
                    started.complete(lease);
                    return CompletableFuture.completedStage(null);
                  }

                  @Override
                  public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
                    told.complete(null);
                    return CompletableFuture.completedStage(null);
                  }
                })
            .stopTimeout(EVER)
            .build();
    election.start();
    started.get(5, TimeUnit.SECONDS);
    election.stop().toCompletableFuture().get(5, TimeUnit.SECONDS);
    told.get(1, TimeUnit.SECONDS);
    gone("edge-election");
  }

  @Test
  void election_withMarginOrPauseOfAllTime_isRefusedWithTheNumbers() {
    LeaderElection.Work work =
        new LeaderElection.Work() {
          @Override
          public CompletionStage<?> startWork(Lease lease) {
            return CompletableFuture.completedStage(null);
          }

          @Override
          public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
            return CompletableFuture.completedStage(null);
          }
        };
    assertThatThrownBy(() -> LeaderElection.builder(redlock, "e", work).stopMargin(EVER).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("stopMargin " + Printable.of(EVER));
    assertThatThrownBy(() -> LeaderElection.builder(redlock, "e", work).retryPause(EVER).build())
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
    gone("edge-thread");
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
