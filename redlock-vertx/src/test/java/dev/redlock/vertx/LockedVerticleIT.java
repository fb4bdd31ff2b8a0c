package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LeaderElection;
import dev.redlock.LeaderElection.State;
import dev.redlock.LockOptions;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

@RedisTest(nodes = 3)
class LockedVerticleIT {
  /** What is wrong with the bus; here nothing. */
  BusFault fault() {
    return BusFault.NONE;
  }

  private static final class Counted extends VerticleBase {
    private final AtomicInteger running;

    Counted(AtomicInteger running) {
      this.running = running;
    }

    @Override
    public Future<?> start() {
      running.incrementAndGet();
      return Future.succeededFuture();
    }

    @Override
    public Future<?> stop() {
      running.decrementAndGet();
      return Future.succeededFuture();
    }
  }

  /** The states one member went through, and where it was told of them. */
  private static final class Told implements LeaderElection.Listener {
    final List<State> states = new CopyOnWriteArrayList<>();
    final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    @Override
    public void onState(State from, State to) {
      states.add(to);
      threads.add(Thread.currentThread());
    }
  }

  private static void eventually(Callable<Boolean> condition) {
    Awaitility.await()
        .atMost(15, TimeUnit.SECONDS)
        .pollInterval(5, TimeUnit.MILLISECONDS)
        .until(condition);
  }

  @Test
  void undeploy_ofTheWorkingMember_stopsTheInnerVerticleAndHandsOver(RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start(fault());
        CheckedVertx b = CheckedVertx.start(fault())) {
      AtomicInteger running = new AtomicInteger();
      Told one = new Told();
      Told two = new Told();
      LockedVerticle first =
          LockedVerticle.builder(
                  a.client(VertxRedlockIT.options(nodes)), "job", () -> new Counted(running))
              .listener(one)
              .build();
      String id = CheckedVertx.get(a.vertx().deployVerticle(first));
      eventually(() -> running.get() == 1 && first.state() == State.WORKING);
      LockedVerticle second =
          LockedVerticle.builder(
                  b.client(VertxRedlockIT.options(nodes)), "job", () -> new Counted(running))
              .listener(two)
              .build();
      CheckedVertx.get(b.vertx().deployVerticle(second));
      eventually(() -> second.state() == State.WAITING);
      assertThat(running).hasValue(1);
      CheckedVertx.get(a.vertx().undeploy(id));
      assertThat(first.state()).isEqualTo(State.IDLE);
      eventually(() -> second.state() == State.WORKING && running.get() == 1);
      assertThat(one.states)
          .containsExactly(State.ACQUIRING, State.WORKING, State.RELEASING, State.IDLE);
      eventually(() -> two.states.contains(State.WORKING));
      assertThat(two.states).containsExactly(State.ACQUIRING, State.WAITING, State.WORKING);
      assertThat(one.threads).as("that of its context alone").hasSize(1);
      assertThat(one.threads.iterator().next().getName()).startsWith("vert.x-eventloop");
    }
  }

  @Test
  void leaseLost_innerVerticleIsStopped_andRunsAgainWhenItsTurnComes(RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start(fault())) {
      AtomicInteger running = new AtomicInteger();
      Told told = new Told();
      VertxRedlock redlock = a.client(VertxRedlockIT.options(nodes));
      LockedVerticle verticle =
          LockedVerticle.builder(redlock, "job", () -> new Counted(running))
              .listener(told)
              .options(LockOptions.builder().leaseTime(Duration.ofSeconds(3)).build())
              .build();
      CheckedVertx.get(a.vertx().deployVerticle(verticle));
      eventually(() -> running.get() == 1 && verticle.state() == State.WORKING);
      nodes.forEach(node -> node.command("SET", "redlock:{job}", "another", "PX", "30000"));
      eventually(() -> verticle.state() == State.WAITING);
      assertThat(running).as("stopped before it waits").hasValue(0);
      nodes.forEach(node -> node.command("DEL", "redlock:{job}"));
      eventually(() -> running.get() == 1 && verticle.state() == State.WORKING);
      assertThat(told.states)
          .containsSubsequence(State.WORKING, State.RELEASING, State.WAITING, State.WORKING);
    }
  }

  @Test
  void vertxClose_whileWorking_stopsTheInnerVerticleAndLeavesNoKey(RedisNodes nodes) {
    AtomicInteger running = new AtomicInteger();
    try (CheckedVertx a = CheckedVertx.start(fault())) {
      VertxRedlock redlock = a.client(VertxRedlockIT.options(nodes));
      CheckedVertx.get(
          a.vertx()
              .deployVerticle(
                  LockedVerticle.builder(redlock, "job", () -> new Counted(running)).build()));
      eventually(() -> running.get() == 1);
    }
    assertThat(running).hasValue(0);
    eventually(() -> nodes.stream().noneMatch(n -> n.key("redlock:{job}").isPresent()));
  }

  @Test
  void inner_failsToStart_isTriedAgain(RedisNodes nodes) {
    AtomicInteger tries = new AtomicInteger();
    try (CheckedVertx a = CheckedVertx.start(fault())) {
      LockedVerticle verticle =
          LockedVerticle.builder(
                  a.client(VertxRedlockIT.options(nodes)),
                  "job",
                  () ->
                      new VerticleBase() {
                        @Override
                        public Future<?> start() {
                          return tries.incrementAndGet() == 1
                              ? Future.failedFuture(new IllegalStateException("not yet"))
                              : Future.succeededFuture();
                        }
                      })
              .retryPause(Duration.ofMillis(50))
              .build();
      CheckedVertx.get(a.vertx().deployVerticle(verticle));
      eventually(() -> tries.get() == 2 && verticle.state() == State.WORKING);
    }
  }
}
