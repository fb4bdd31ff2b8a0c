package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.RedlockClosedException;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.core.shareddata.Lock;
import io.vertx.ext.healthchecks.Status;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@RedisTest(nodes = 3)
@ExtendWith(VertxExtension.class)
class VertxRedlockIT {
  private static final Duration LONG = Duration.ofSeconds(20);

  private CheckedVertx checked;
  private Vertx vertx;
  private VertxRedlock redlock;

  @BeforeEach
  void start(RedisNodes nodes) {
    checked = CheckedVertx.start(fault());
    vertx = checked.vertx();
    redlock = checked.client(options(nodes));
  }

  @AfterEach
  void stop() {
    checked.close();
  }

  /** What is wrong with the bus; here nothing. */
  BusFault fault() {
    return BusFault.NONE;
  }

  static RedlockOptions options(RedisNodes nodes) {
    return new RedlockOptions()
        .setNodes(nodes.uris())
        .setRestartGuard("off")
        .setNodeTimeoutMillis(500)
        .setQueueBound(10_000);
  }

  /** A verticle that does one thing. */
  private static final class Doing extends TestVerticle {
    private final java.util.function.Function<Context, Future<?>> body;

    Doing(java.util.function.Function<Context, Future<?>> body) {
      this.body = body;
    }

    @Override
    Future<?> begin() {
      return body.apply(context);
    }
  }

  private static boolean anyKey(RedisNodes nodes, String name) {
    return nodes.stream().anyMatch(n -> n.key("redlock:{" + name + "}").isPresent());
  }

  private static void awaitNoKey(RedisNodes nodes, String name) {
    Awaitility.await()
        .atMost(5, TimeUnit.SECONDS)
        .pollInterval(5, TimeUnit.MILLISECONDS)
        .until(() -> !anyKey(nodes, name));
  }

  /** The JDK decides whether there are virtual threads. */
  static List<ThreadingModel> threadingModels() {
    return Runtime.version().feature() >= 21
        ? List.of(ThreadingModel.EVENT_LOOP, ThreadingModel.WORKER, ThreadingModel.VIRTUAL_THREAD)
        : List.of(ThreadingModel.EVENT_LOOP, ThreadingModel.WORKER);
  }

  @ParameterizedTest
  @MethodSource("threadingModels")
  void results_inEveryThreadingModel_arriveOnTheCallersContext(
      ThreadingModel model, VertxTestContext test) {
    vertx
        .deployVerticle(
            new Doing(
                context ->
                    redlock
                        .acquire("a", LONG)
                        .compose(
                            lease -> {
                              test.verify(
                                  () -> assertThat(Vertx.currentContext()).isSameAs(context));
                              return lease.extend().map(lease);
                            })
                        .compose(
                            lease -> {
                              test.verify(
                                  () -> assertThat(Vertx.currentContext()).isSameAs(context));
                              Future<LeaseEnd> ended = lease.whenEnded();
                              return lease.release().compose(released -> ended);
                            })
                        .onComplete(
                            test.succeeding(
                                end ->
                                    test.verify(
                                        () -> {
                                          assertThat(Vertx.currentContext()).isSameAs(context);
                                          assertThat(end).isEqualTo(LeaseEnd.RELEASED);
                                          test.completeNow();
                                        })))),
            new DeploymentOptions().setThreadingModel(model))
        .onFailure(test::failNow);
  }

  @ParameterizedTest
  @MethodSource("threadingModels")
  void everythingElse_inEveryThreadingModel_arrivesOnTheCallersContext(
      ThreadingModel model, RedisNodes nodes) {
    List<String> elsewhere = new CopyOnWriteArrayList<>();
    Set<String> asked = ConcurrentHashMap.newKeySet();
    CheckedVertx.get(
        vertx.deployVerticle(
            new Doing(
                context -> {
                  Asked on =
                      new Asked() {
                        @Override
                        public <T> Future<T> told(String what, Future<T> future) {
                          asked.add(what);
                          return future.onComplete(
                              result -> {
                                if (Vertx.currentContext() != context) {
                                  elsewhere.add(what + " on " + Thread.currentThread());
                                }
                              });
                        }
                      };
                  // Made and closed where nothing may block.
                  VertxRedlock own = VertxRedlock.create(vertx, options(nodes));
                  return whenVoting(own, 1_000).compose(voting -> askAll(own, on));
                }),
            new DeploymentOptions().setThreadingModel(model)));
    assertThat(elsewhere).isEmpty();
    assertThat(asked).hasSize(11);
  }

  private interface Asked {
    <T> Future<T> told(String what, Future<T> future);
  }

  private Future<?> whenVoting(VertxRedlock client, int tries) {
    return tries == 0 || client.redlock().nodes().stream().allMatch(n -> n.state().equals("VOTING"))
        ? Future.succeededFuture()
        : vertx.timer(10).compose(fired -> whenVoting(client, tries - 1));
  }

  private static Future<?> askAll(VertxRedlock own, Asked on) {
    RedlockSharedLocks shared = own.sharedLocks();
    return on.told("try granted", own.tryAcquire("a"))
        .compose(lease -> on.told("try refused", own.tryAcquire("a")).map(lease))
        .compose(
            lease ->
                on.told("timed out", own.acquire("a", Duration.ofMillis(20)))
                    .otherwiseEmpty()
                    .map(lease))
        .compose(lease -> lease.orElseThrow().release())
        .compose(released -> on.told("bad name", own.acquire("", LONG)).otherwiseEmpty())
        .compose(
            refused ->
                on.told(
                    "withLock", own.withLock("a", LONG, lease -> on.told("body", lease.extend()))))
        .compose(
            done ->
                on.told(
                        "failed body",
                        own.withLock(
                            "a", LONG, l -> Future.failedFuture(new IllegalStateException("no"))))
                    .otherwiseEmpty())
        .compose(failed -> on.told("getLock", shared.getLock("a")))
        .compose(
            lock -> {
              lock.release();
              return on.told("shared", shared.withLock("a", () -> Future.succeededFuture(1)));
            })
        .compose(done -> on.told("close", own.close()))
        .compose(closed -> on.told("closed", own.acquire("a", LONG)).otherwiseEmpty());
  }

  @Test
  void acquire_heldElsewhere_failsWithTheReport() {
    CheckedVertx.get(redlock.acquire("a", LONG));
    assertThatThrownBy(() -> CheckedVertx.get(redlock.acquire("a", Duration.ofMillis(50))))
        .isInstanceOf(LockTimeoutException.class);
    assertThat(CheckedVertx.get(redlock.tryAcquire("a"))).isEmpty();
    CheckedVertx.get(redlock.close());
  }

  @Test
  void acquire_badArguments_failTheFutureAndThrowNothing() {
    assertThatThrownBy(() -> CheckedVertx.get(redlock.acquire("", LONG)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> CheckedVertx.get(redlock.acquire("a", Duration.ofMillis(-1))))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void withLock_bodyAfterBody_countsExactly(RedisNodes nodes) {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger sum = new AtomicInteger();
    List<Future<Integer>> all =
        java.util.stream.IntStream.range(0, 50)
            .mapToObj(
                i ->
                    redlock.<Integer>withLock(
                        "a",
                        LONG,
                        lease -> {
                          assertThat(inside.incrementAndGet()).isEqualTo(1);
                          return vertx
                              .timer(1)
                              .map(
                                  t -> {
                                    inside.decrementAndGet();
                                    return sum.incrementAndGet();
                                  });
                        }))
            .toList();
    CheckedVertx.get(Future.join(all));
    assertThat(sum).hasValue(50);
    awaitNoKey(nodes, "a");
  }

  @Test
  void withLock_bodyFailsOrThrows_releasesAndPassesTheFailureOn(RedisNodes nodes) {
    assertThatThrownBy(
            () ->
                CheckedVertx.get(
                    redlock.withLock(
                        "a", LONG, l -> Future.failedFuture(new IllegalStateException("no")))))
        .hasMessage("no");
    assertThatThrownBy(
            () ->
                CheckedVertx.get(
                    redlock.withLock(
                        "a",
                        LONG,
                        l -> {
                          throw new IllegalStateException("never");
                        })))
        .hasMessage("never");
    awaitNoKey(nodes, "a");
  }

  @Test
  void withLock_leaseLostMeanwhile_failsWithTheLoss(RedisNodes nodes) {
    assertThatThrownBy(
            () ->
                CheckedVertx.get(
                    redlock.withLock(
                        "a",
                        LONG,
                        lease -> {
                          Future<LeaseEnd> ended = lease.whenEnded();
                          redlock.redlock().breakLock("a");
                          return ended.compose(
                              end -> Future.failedFuture(new IllegalStateException("body")));
                        })))
        .isInstanceOf(LeaseLostException.class)
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
    awaitNoKey(nodes, "a");
  }

  @Test
  void undeploy_holdingAndWaiting_releasesAndCancels(RedisNodes nodes) {
    Promise<Throwable> waiter = Promise.promise();
    String id =
        CheckedVertx.get(
            vertx.deployVerticle(
                new Doing(
                    context ->
                        redlock
                            .acquire("a", LONG)
                            .onSuccess(
                                lease ->
                                    redlock
                                        .acquire("a", LONG)
                                        .onComplete(r -> waiter.complete(r.cause()))))));
    assertThat(anyKey(nodes, "a")).isTrue();
    CheckedVertx.get(vertx.undeploy(id));
    assertThat(CheckedVertx.get(waiter.future())).isInstanceOf(CancellationException.class);
    awaitNoKey(nodes, "a");
    CheckedVertx.get(redlock.acquire("a", LONG).compose(VertxLease::release));
  }

  @Test
  void undeploy_ofOneVerticle_leavesTheOthersAlone() {
    String first =
        CheckedVertx.get(vertx.deployVerticle(new Doing(c -> redlock.acquire("a", LONG))));
    Promise<VertxLease> held = Promise.promise();
    CheckedVertx.get(
        vertx.deployVerticle(new Doing(c -> redlock.acquire("b", LONG).onComplete(held))));
    CheckedVertx.get(vertx.undeploy(first));
    assertThat(CheckedVertx.get(held.future()).isValid()).isTrue();
  }

  @Test
  void vertxClose_verticleHolds_stopsTheVerticleFirstThenReleases(RedisNodes nodes) {
    Promise<Boolean> validAtStop = Promise.promise();
    CheckedVertx.get(
        vertx.deployVerticle(
            new TestVerticle() {
              private VertxLease lease;

              @Override
              Future<?> begin() {
                return redlock.acquire("a", LONG).onSuccess(l -> lease = l);
              }

              @Override
              Future<?> end() {
                validAtStop.complete(lease.isValid());
                return Future.succeededFuture();
              }
            }));
    CheckedVertx.get(vertx.close());
    assertThat(CheckedVertx.get(validAtStop.future())).isTrue();
    awaitNoKey(nodes, "a");
  }

  @Test
  void handOver_betweenTwoClients_goesThroughEachTime(RedisNodes nodes) {
    VertxRedlock other = checked.client(options(nodes));
    BusIT.handOvers(redlock, other, "a", 20);
  }

  @Test
  void close_twice_refusesNewWorkAndReleases(RedisNodes nodes) {
    CheckedVertx.get(redlock.acquire("a", LONG));
    CheckedVertx.get(redlock.close());
    CheckedVertx.get(redlock.close());
    awaitNoKey(nodes, "a");
    assertThatThrownBy(() -> CheckedVertx.get(redlock.acquire("a", LONG)))
        .isInstanceOf(RedlockClosedException.class);
  }

  @Test
  void wrap_closed_releasesItsLeasesAndLeavesTheClientOpen(RedisNodes nodes) {
    try (Redlock mine =
        Redlock.builder()
            .nodes(nodes.uris().toArray(String[]::new))
            .restartGuard(RestartGuard.off())
            .nodeTimeout(Duration.ofSeconds(1))
            .build()) {
      VertxRedlock wrapped = CheckedVertx.voting(VertxRedlock.wrap(vertx, mine));
      VertxLease lease = CheckedVertx.get(wrapped.acquire("a", LONG));
      CheckedVertx.get(wrapped.close());
      assertThat(lease.isValid()).isFalse();
      Optional<dev.redlock.Lease> other = mine.lock("b").tryAcquire();
      assertThat(other).isPresent();
      other.get().close();
    }
  }

  @Test
  void sharedLocks_inTheShapesOfSharedData_excludeEachOther(RedisNodes nodes) {
    RedlockSharedLocks locks = redlock.sharedLocks();
    Lock lock = CheckedVertx.get(locks.getLock("a"));
    assertThatThrownBy(() -> CheckedVertx.get(locks.getLockWithTimeout("a", 50)))
        .isInstanceOf(LockTimeoutException.class);
    lock.release();
    assertThat(CheckedVertx.get(locks.withLock("a", () -> Future.succeededFuture(7)))).isEqualTo(7);
    assertThat(CheckedVertx.get(locks.withLock("a", 5_000, () -> Future.succeededFuture(8))))
        .isEqualTo(8);
    awaitNoKey(nodes, "a");
  }

  @Test
  void health_quorumVotes_isOkAndNamesEachNode(RedisNodes nodes) {
    Promise<Status> promise = Promise.promise();
    RedlockHealth.procedure(redlock).handle(promise);
    Status status = CheckedVertx.get(promise.future());
    assertThat(status.isOk()).isTrue();
    assertThat(status.getData().getJsonArray("nodes")).hasSize(3);
    nodes.get(0).kill();
    nodes.get(1).kill();
    Awaitility.await()
        .atMost(10, TimeUnit.SECONDS)
        .until(
            () -> {
              Promise<Status> again = Promise.promise();
              RedlockHealth.procedure(redlock).handle(again);
              JsonObject data = CheckedVertx.get(again.future()).getData();
              return data.getInteger("voting") == 1 && !again.future().result().isOk();
            });
  }
}
