package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LeaderElection.State;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

@RedisTest(nodes = 3)
class LockedVerticleIT {

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

  private static void eventually(Callable<Boolean> condition) {
    Awaitility.await()
        .atMost(15, TimeUnit.SECONDS)
        .pollInterval(5, TimeUnit.MILLISECONDS)
        .until(condition);
  }

  @Test
  void undeploy_ofTheWorkingMember_stopsTheInnerVerticleAndHandsOver(RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start();
        CheckedVertx b = CheckedVertx.start()) {
      AtomicInteger running = new AtomicInteger();
      LockedVerticle first =
          LockedVerticle.builder(
                  a.client(VertxRedlockIT.options(nodes)), "job", () -> new Counted(running))
              .build();
      String id = CheckedVertx.get(a.vertx().deployVerticle(first));
      eventually(() -> running.get() == 1 && first.state() == State.WORKING);
      LockedVerticle second =
          LockedVerticle.builder(
                  b.client(VertxRedlockIT.options(nodes)), "job", () -> new Counted(running))
              .build();
      CheckedVertx.get(b.vertx().deployVerticle(second));
      eventually(() -> second.state() == State.WAITING);
      assertThat(running).hasValue(1);
      CheckedVertx.get(a.vertx().undeploy(id));
      assertThat(first.state()).isEqualTo(State.IDLE);
      eventually(() -> second.state() == State.WORKING && running.get() == 1);
    }
  }

  @Test
  void vertxClose_whileWorking_stopsTheInnerVerticleAndLeavesNoKey(RedisNodes nodes) {
    AtomicInteger running = new AtomicInteger();
    try (CheckedVertx a = CheckedVertx.start()) {
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
    try (CheckedVertx a = CheckedVertx.start()) {
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
              .retryPause(java.time.Duration.ofMillis(50))
              .build();
      CheckedVertx.get(a.vertx().deployVerticle(verticle));
      eventually(() -> tries.get() == 2 && verticle.state() == State.WORKING);
    }
  }
}
