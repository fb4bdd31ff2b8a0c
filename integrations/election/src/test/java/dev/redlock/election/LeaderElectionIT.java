package dev.redlock.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.election.LeaderElection.State;
import dev.redlock.election.LeaderElection.StopReason;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Elections on real nodes. */
@RedisTest(nodes = 3, gated = true)
class LeaderElectionIT {
  private static final Duration LEASE = Duration.ofMillis(1_500);

  /** So long that a short pause of the machine changes no state. */
  private static final Duration LONG_LEASE = Duration.ofSeconds(6);

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable c : open) {
      c.close();
    }
  }

  /** Records its calls, and returns what the test sets. */
  private static final class Recorded implements LeaderElection.Work, LeaderElection.Listener {
    final List<String> log = new CopyOnWriteArrayList<>();
    final List<State> states = new CopyOnWriteArrayList<>();
    final List<Throwable> failures = new CopyOnWriteArrayList<>();
    volatile Callable<CompletionStage<?>> onStart = () -> done();
    volatile Callable<CompletionStage<?>> onStop = () -> done();
    volatile Lease lease;
    volatile long validAtStopMillis;

    static CompletionStage<?> done() {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<?> startWork(Lease granted) {
      lease = granted;
      log.add("start");
      return call(onStart);
    }

    @Override
    public CompletionStage<?> stopWork(StopReason reason) {
      validAtStopMillis = lease.remainingValidity().toMillis();
      log.add("stop " + reason);
      return call(onStop);
    }

    private static CompletionStage<?> call(Callable<CompletionStage<?>> body) {
      try {
        return body.call();
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public void onState(State from, State to) {
      states.add(to);
    }

    @Override
    public void onFailure(Throwable failure) {
      failures.add(failure);
    }
  }

  private Redlock client(RedisNodes nodes) {
    return client(nodes, LEASE);
  }

  private Redlock client(RedisNodes nodes, Duration lease) {
    Redlock redlock =
        Redlock.builder()
            .nodes(nodes.uris().toArray(String[]::new))
            .restartGuard(RestartGuard.OFF)
            .defaults(
                LockOptions.builder().leaseTime(lease).nodeTimeout(lease.dividedBy(6)).build())
            .build();
    open.add(redlock);
    eventually(
        () ->
            redlock.operations().nodes().stream()
                .allMatch(n -> n.state() == NodeState.State.VOTING));
    return redlock;
  }

  private LeaderElection.Builder election(Redlock redlock, Recorded work) {
    return LeaderElection.builder(redlock, "leader", work)
        .listener(work)
        .retryPause(Duration.ofMillis(50));
  }

  private LeaderElection start(LeaderElection.Builder builder) {
    LeaderElection election = builder.build();
    open.add(0, election);
    election.start();
    return election;
  }

  private static void eventually(Callable<Boolean> condition) {
    Awaitility.await()
        .atMost(15, TimeUnit.SECONDS)
        .pollInterval(5, TimeUnit.MILLISECONDS)
        .until(condition);
  }

  private static void await(CompletionStage<?> stage) throws Exception {
    stage.toCompletableFuture().get(15, TimeUnit.SECONDS);
  }

  @Test
  void start_lockFree_worksAndStopHandsOver(RedisNodes nodes) throws Exception {
    Recorded one = new Recorded();
    Recorded two = new Recorded();
    LeaderElection first = start(election(client(nodes, LONG_LEASE), one));
    eventually(() -> one.log.equals(List.of("start")));
    LeaderElection second = start(election(client(nodes, LONG_LEASE), two));
    eventually(() -> second.state() == State.WAITING);
    assertThat(first.state()).isEqualTo(State.WORKING);
    assertThat(first.lease()).isNotNull();
    await(first.stop());
    assertThat(first.state()).isEqualTo(State.IDLE);
    assertThat(first.lease()).isNull();
    eventually(() -> two.states.contains(State.WORKING) && one.states.contains(State.IDLE));
    assertThat(one.log).containsExactly("start", "stop STOPPED");
    assertThat(one.states)
        .containsExactly(State.ACQUIRING, State.WORKING, State.RELEASING, State.IDLE);
    assertThat(two.states).startsWith(State.ACQUIRING, State.WAITING, State.WORKING);
    assertThat(one.failures).isEmpty();
  }

  @Test
  void pauseResumeResign_oneInstance_goesThroughTheStates(RedisNodes nodes) throws Exception {
    Recorded work = new Recorded();
    LeaderElection election = start(election(client(nodes), work));
    eventually(() -> election.state() == State.WORKING);
    await(election.pause());
    assertThat(election.state()).isEqualTo(State.PAUSED);
    election.resume();
    eventually(() -> election.state() == State.WORKING && work.log.size() == 3);
    await(election.resign());
    eventually(() -> work.log.size() == 5 && election.state() == State.WORKING);
    assertThat(work.log).containsExactly("start", "stop PAUSED", "start", "stop RESIGNED", "start");
  }

  @Tag("thorough")
  @Test
  void work_nodesUnreachable_isStoppedTheMarginBeforeValidityEnds(RedisNodes nodes) {
    Recorded work = new Recorded();
    LeaderElection election =
        start(election(client(nodes, LONG_LEASE), work).stopMargin(LONG_LEASE.dividedBy(3)));
    eventually(() -> work.log.equals(List.of("start")));
    nodes.forEach(n -> n.gate().blackHole());
    eventually(() -> work.log.size() == 2);
    assertThat(work.log.get(1)).isEqualTo("stop LEASE_ENDING");
    assertThat(work.validAtStopMillis).as("validity left at the call of stopWork").isPositive();
    assertThat(work.states).contains(State.RENEWING);
    nodes.endFaults();
    eventually(() -> work.log.size() == 3 && election.state() == State.WORKING);
  }

  @Test
  void startWork_throwsThenFailsThenWorks_isRetriedAfterAPause(RedisNodes nodes) {
    Recorded work = new Recorded();
    work.onStart =
        () -> {
          work.onStart =
              () -> {
                work.onStart = Recorded::done;
                return CompletableFuture.failedFuture(new IllegalStateException("failed"));
              };
          throw new IllegalStateException("thrown");
        };
    LeaderElection election = start(election(client(nodes), work));
    eventually(() -> work.log.size() == 5 && election.state() == State.WORKING);
    assertThat(work.log)
        .containsExactly("start", "stop WORK_FAILED", "start", "stop WORK_FAILED", "start");
    assertThat(work.failures).hasSize(2).allMatch(IllegalStateException.class::isInstance);
  }

  @Test
  void stopWork_throws_releasesTheLock(RedisNodes nodes) throws Exception {
    Recorded work = new Recorded();
    work.onStop =
        () -> {
          throw new IllegalStateException("thrown");
        };
    LeaderElection election = start(election(client(nodes), work));
    eventually(() -> election.state() == State.WORKING && work.log.size() == 1);
    await(election.stop());
    assertThat(election.state()).isEqualTo(State.IDLE);
    // A quorum has confirmed; the third node may confirm later.
    eventually(() -> nodes.stream().noneMatch(n -> n.key("redlock:{leader}").isPresent()));
  }

  @Test
  void stopWork_hangs_handsOverAfterTheTimeoutAndStaysOutUntilItIsDone(RedisNodes nodes)
      throws Exception {
    CompletableFuture<Void> hanging = new CompletableFuture<>();
    Recorded work = new Recorded();
    work.onStop = () -> hanging;
    LeaderElection election =
        start(election(client(nodes), work).stopTimeout(Duration.ofMillis(200)));
    eventually(() -> work.log.size() == 1);
    CompletionStage<Void> resigned = election.resign();
    Recorded other = new Recorded();
    LeaderElection second = start(election(client(nodes), other));
    await(resigned);
    eventually(() -> second.state() == State.WORKING);
    await(second.stop());
    assertThat(election.state()).as("its old work may still run").isEqualTo(State.RELEASING);
    assertThat(work.log).hasSize(2);
    work.onStop = Recorded::done;
    hanging.complete(null);
    eventually(() -> election.state() == State.WORKING && work.log.size() == 3);
    assertThat(work.failures).hasSize(1);
  }

  @Test
  void startWork_blocksItsThread_stopWorkIsCalled(RedisNodes nodes) throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    Recorded work = new Recorded();
    work.onStart =
        () -> {
          blocked.await();
          return Recorded.done();
        };
    LeaderElection election = start(election(client(nodes), work));
    eventually(() -> work.log.size() == 1);
    CompletionStage<Void> stopped = election.stop();
    eventually(() -> work.log.size() == 2);
    blocked.countDown();
    await(stopped);
    assertThat(election.state()).isEqualTo(State.IDLE);
  }

  @Test
  void build_marginAboveHalfTheLeaseTime_isRefusedWithBothNumbers(RedisNodes nodes) {
    Redlock redlock = client(nodes);
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> election(redlock, new Recorded()).stopMargin(Duration.ofSeconds(1)).build())
        .withMessageContaining("stopMargin 1 s ")
        .withMessageContaining("leaseTime 1.5 s");
  }

  @Tag("thorough")
  @Test
  void liveness_probeFailsOrHangs_endsTheTenure(RedisNodes nodes) {
    Recorded work = new Recorded();
    AtomicReference<CompletionStage<?>> probe = new AtomicReference<>(Recorded.done());
    AtomicInteger probes = new AtomicInteger();
    // After a pause of the machine there is still time to extend, and to stop before the end.
    Duration lease = Duration.ofSeconds(4);
    start(
        election(client(nodes, lease), work)
            .stopMargin(Duration.ofMillis(1_500))
            .liveness(
                () -> {
                  probes.incrementAndGet();
                  return probe.get();
                }));
    eventually(() -> work.log.equals(List.of("start")));
    Lease first = work.lease;
    long begin = System.nanoTime();
    eventually(() -> System.nanoTime() - begin > lease.toNanos());
    assertThat(first.isValid()).as("extended after probes").isTrue();
    assertThat(probes.get()).isPositive();
    assertThat(work.log).containsExactly("start");
    probe.set(new CompletableFuture<>());
    eventually(() -> work.log.size() >= 3); // It starts again: no other member wants the lock.
    probe.set(CompletableFuture.failedFuture(new IllegalStateException("stuck")));
    eventually(
        () ->
            work.log.size() >= 4
                && work.failures.stream().anyMatch(f -> "stuck".equals(f.getMessage())));
    assertThat(work.log).startsWith("start", "stop LEASE_ENDING", "start", "stop LEASE_ENDING");
  }
}
