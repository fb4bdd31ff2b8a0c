package dev.redlock.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.election.LeaderElection;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What callers notice of a change of the set, and of nodes that forget. The guard time is 7 s here.
 */
class SetChangeAvailabilityIT {
  private static final Duration LONGEST = Duration.ofSeconds(2);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int WAITERS = 200;

  private RedisNodes nodes;
  private final List<Redlock> clients = new ArrayList<>();

  @BeforeEach
  void start() {
    nodes = RedisNodes.start(4);
  }

  @AfterEach
  void close() {
    clients.forEach(Redlock::close);
    nodes.close();
  }

  private Redlock client(RestartGuard guard) {
    Redlock client =
        Redlock.builder()
            .nodes(nodes.uris().subList(0, 3).toArray(String[]::new))
            .maxLeaseTime(LONGEST)
            .restartGuard(guard)
            .build();
    clients.add(client);
    Eventually.holds(
        () -> Clients.votes(client) == 3,
        Duration.ofSeconds(20),
        () -> client.operations().nodes() + "\n" + nodes.describe());
    return client;
  }

  /** Counts how often it began and was stopped. */
  private static final class Counted implements LeaderElection.Work {
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger stopped = new AtomicInteger();

    @Override
    public CompletionStage<?> startWork(Lease lease) {
      begun.incrementAndGet();
      return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
      stopped.incrementAndGet();
      return CompletableFuture.completedStage(null);
    }
  }

  @Test
  @Tag("thorough")
  void replacementOfADeadMaster_anElectionKeepsItsLease_andTwoHundredWaitersGetTheLock()
      throws Exception {
    Redlock operator = client(RestartGuard.OFF);
    Redlock holder = client(RestartGuard.OFF);
    Redlock waiting = client(RestartGuard.OFF);
    Counted work = new Counted();
    try (LeaderElection election = LeaderElection.builder(holder, "leader", work).build()) {
      election.start();
      Eventually.holds(() -> work.begun.get() == 1, nodes);
      Lease held = holder.lock("busy").acquire(PATIENCE);
      List<CompletableFuture<Void>> waiters = new ArrayList<>();
      for (int i = 0; i < WAITERS; i++) {
        waiters.add(
            waiting
                .lock("busy")
                .acquireAsync(PATIENCE)
                .thenCompose(Lease::releaseAsync)
                .thenAccept(released -> {}));
      }
      nodes.get(2).kill();
      String dead = nodes.get(2).uri().replace("redis://", "");
      Clients.done(operator.operations().replaceNode(dead, nodes.get(3).uri(), step -> {}));
      assertThat(waiters).noneMatch(CompletableFuture::isDone);
      assertThat(held.isValid()).isTrue();
      held.close();
      CompletableFuture.allOf(waiters.toArray(CompletableFuture[]::new)).get(60, SECONDS);
      assertThat(election.state()).isEqualTo(LeaderElection.State.WORKING);
      assertThat(work.begun).hasValue(1);
      assertThat(work.stopped).hasValue(0);
    }
  }

  @Test
  void oneOfThreeIsDown_andAnotherRestartsEmpty_serviceComesBackByItself() throws Exception {
    Redlock client = client(RestartGuard.UPTIME);
    nodes.get(2).kill();
    nodes.get(1).restart();
    long begun = System.nanoTime();
    client.lock("x").acquire(PATIENCE).close();
    System.out.println("service is back after " + Duration.ofNanos(System.nanoTime() - begun));
    assertThat(Clients.votes(client)).isEqualTo(2);
  }
}
