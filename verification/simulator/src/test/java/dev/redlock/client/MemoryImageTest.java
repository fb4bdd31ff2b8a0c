package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.Redlock;
import dev.redlock.RedlockClosedException;
import dev.redlock.RedlockListener;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.InMemoryLockNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.crac.Core;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client whose JVM says that a memory image of it is taken. {@code org.crac} is a stand-in. */
@Timeout(60)
class MemoryImageTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final List<InMemoryLockNode> servers =
      Stream.of("a", "b", "c").map(InMemoryLockNode::create).toList();
  private final List<LeaseEnd> heard = new CopyOnWriteArrayList<>();
  private final Redlock redlock;
  private final Redlock other;

  MemoryImageTest() {
    Core.forgetAll();
    redlock = client();
    other = client();
  }

  private Redlock client() {
    Redlock client =
        Redlock.builder()
            .nodes(servers.stream().map(InMemoryLockNode::another).toArray(LockNode[]::new))
            .restartGuard(RestartGuard.OFF)
            .nodeTimeout(Duration.ofSeconds(1))
            .leaseTime(Duration.ofSeconds(30))
            .listener(
                new RedlockListener() {
                  @Override
                  public void onEnded(Lease lease, LeaseEnd end, Duration held, Duration left) {
                    heard.add(end);
                  }
                })
            .build();
    assertThat(client.awaitReady(WAIT)).isTrue();
    return client;
  }

  @AfterEach
  void close() throws Exception {
    Core.restore();
    redlock.close();
    other.close();
  }

  private void checkpoint() throws Exception {
    await("both clients have found the hooks").until(() -> Core.count() == 2);
    Core.checkpoint();
  }

  @Test
  void leases_whenAnImageIsTaken_areLostAndReleased() throws Exception {
    Lease lease = redlock.lock("job").acquire(WAIT);
    checkpoint();
    assertThat(lease.isValid()).isFalse();
    assertThat(lease.whenEnded().toCompletableFuture().get(20, TimeUnit.SECONDS))
        .isEqualTo(LeaseEnd.LOST);
    await("the listener hears of it").until(() -> heard.contains(LeaseEnd.LOST));
    await("the nodes have confirmed the release")
        .until(() -> servers.stream().allMatch(server -> server.holder("job") == null));
  }

  /** Else the image would contain a lease that each of its copies trusts. */
  @Test
  void lease_thatIsGrantedAfterTheImageIsAnnounced_isNeverValid() throws Exception {
    checkpoint();
    Lease lease = redlock.lock("job").acquire(WAIT);
    assertThat(lease.isValid()).isFalse();
    Core.restore();
    assertThat(lease.whenEnded().toCompletableFuture().get(20, TimeUnit.SECONDS))
        .isEqualTo(LeaseEnd.LOST);
    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void waiter_whenAnImageIsTaken_goesOnWaitingAndGetsTheLock() throws Exception {
    for (InMemoryLockNode server : servers) {
      server.kill();
    }
    CompletableFuture<Lease> waiter = redlock.lock("job").acquireAsync(WAIT);
    checkpoint();
    Core.restore();
    assertThat(waiter).isNotDone();
    for (InMemoryLockNode server : servers) {
      server.restart();
    }
    try (Lease lease = waiter.get(20, TimeUnit.SECONDS)) {
      assertThat(lease.isValid()).isTrue();
      await("the other client has connected again")
          .until(
              () ->
                  other.operations().nodes().stream()
                      .allMatch(node -> node.state() == NodeState.State.VOTING));
      assertThat(other.lock("job").tryAcquire()).isEmpty();
    }
  }

  @Test
  void closedClient_whenAnImageIsTaken_staysClosed() throws Exception {
    redlock.close();
    checkpoint();
    Core.restore();
    assertThat(redlock.lock("job").acquireAsync(WAIT))
        .failsWithin(WAIT)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(RedlockClosedException.class);
  }
}
