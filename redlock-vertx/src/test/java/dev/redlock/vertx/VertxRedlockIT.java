package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.RedlockClosedException;
import dev.redlock.RedlockException;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.VerticleBase;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
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

  /** The fault of the bus; none here. */
  BusFault fault() {
    return BusFault.NONE;
  }

  static RedlockOptions options(RedisNodes nodes) {
    return new RedlockOptions()
        .setNodes(nodes.uris())
        .setRestartGuard("off")
        .setNodeTimeoutMillis(1_000)
        .setQueueBound(10_000);
  }

  /** A verticle that runs one function. */
  private static final class Doing extends VerticleBase {
    private final Function<Context, Future<?>> body;

    Doing(Function<Context, Future<?>> body) {
      this.body = body;
    }

    @Override
    public Future<?> start() {
      return body.apply(context);
    }
  }

  /** A future that an application keeps must not collect a handler for each acquire (#36). */
  @Test
  void giveUp_ofManyAcquires_getsOneHandler() throws Exception {
    AtomicInteger handlers = new AtomicInteger();
    Promise<Void> promise = Promise.promise();
    Future<?> counting =
        (Future<?>)
            java.lang.reflect.Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Future.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("hashCode")) {
                    return System.identityHashCode(proxy);
                  } else if (method.getName().equals("equals")) {
                    return proxy == arguments[0];
                  } else if (method.getName().startsWith("on")) {
                    handlers.incrementAndGet();
                  }
                  return method.invoke(promise.future(), arguments);
                });
    LockOptions options = LockOptions.builder().nodeTimeout(Duration.ofSeconds(1)).build();
    for (int i = 0; i < 20; i++) {
      Lease lease =
          redlock
              .acquire(List.of("kept-future"), options, LONG, counting)
              .toCompletionStage()
              .toCompletableFuture()
              .get(20, TimeUnit.SECONDS)
              .unwrap();
      lease.close();
    }
    assertThat(handlers).hasValue(1);
    try (Lease held =
        redlock
            .acquire("kept-future", LONG)
            .toCompletionStage()
            .toCompletableFuture()
            .get(20, TimeUnit.SECONDS)
            .unwrap()) {
      CompletableFuture<?> waiting =
          redlock
              .acquire(List.of("kept-future"), options, LONG, counting)
              .toCompletionStage()
              .toCompletableFuture();
      promise.complete();
      assertThatThrownBy(() -> waiting.get(10, TimeUnit.SECONDS))
          .isInstanceOf(CancellationException.class);
      assertThat(held.isValid()).isTrue();
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

  /** Virtual threads depend on the JDK. */
  static List<ThreadingModel> threadingModels() {
    return Runtime.version().feature() >= 21
        ? List.of(ThreadingModel.EVENT_LOOP, ThreadingModel.WORKER, ThreadingModel.VIRTUAL_THREAD)
        : List.of(ThreadingModel.EVENT_LOOP, ThreadingModel.WORKER);
  }

  @Test
  void future_ofTheCoreClientThatBlocks_keepsNoLeaseFromBeingExtended() {
    // Extended each second: a short pause of the machine does not end it.
    Duration leaseTime = Duration.ofSeconds(3);
    LockOptions brief =
        LockOptions.builder().leaseTime(leaseTime).nodeTimeout(Duration.ofSeconds(1)).build();
    CountDownLatch over = new CountDownLatch(1);
    CountDownLatch blocks = new CountDownLatch(1);
    try (Lease held = redlock.redlock().lock("held", brief).acquire(LONG)) {
      // Waits until the callback is registered. Otherwise it would run on this thread and block it.
      Lease first = redlock.redlock().lock("other").acquire(LONG);
      CompletableFuture<Boolean> blocked =
          redlock
              .redlock()
              .lock("other")
              .acquireAsync(LONG)
              .thenApply(
                  lease -> {
                    blocks.countDown();
                    try (lease) {
                      return over.await(20, TimeUnit.SECONDS);
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                      return false;
                    }
                  });
      first.releaseAsync();
      Awaitility.await().atMost(20, TimeUnit.SECONDS).until(() -> blocks.getCount() == 0);
      // Does not use the events of extensions: the client calls a listener after the future that
      // blocks.
      long begin = System.nanoTime();
      Awaitility.await()
          .atMost(20, TimeUnit.SECONDS)
          .until(() -> System.nanoTime() - begin > leaseTime.toNanos());
      assertThat(held.isValid()).as("extended since the future blocks").isTrue();
      over.countDown();
      assertThat(blocked.join()).as("blocked until then").isTrue();
    }
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
                  // Created and closed on threads that must not block.
                  VertxRedlock own = VertxRedlock.create(vertx, options(nodes));
                  return own.ready().compose(voting -> askAll(own, on));
                }),
            new DeploymentOptions().setThreadingModel(model)));
    assertThat(elsewhere).isEmpty();
    assertThat(asked).hasSize(11);
  }

  private interface Asked {
    <T> Future<T> told(String what, Future<T> future);
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

  private static void assertRefused(Future<?> future, String message) {
    assertThatThrownBy(() -> CheckedVertx.get(future))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void acquire_badArguments_failTheFutureAndThrowNothing() {
    String none = null;
    assertRefused(redlock.acquire("", LONG), "name");
    assertRefused(
        redlock.acquire("a", Duration.ofMillis(-1)), "waitTimeout -1 ms must not be negative");
    assertRefused(redlock.acquire(none, LONG), "name must not be null");
    assertRefused(redlock.acquire("a", null), "wait must not be null");
    assertRefused(redlock.acquire((List<String>) null, LONG), "names must not be null");
    assertRefused(redlock.acquire(List.of(), LONG), "at least one name");
    assertRefused(redlock.acquire(List.of("a"), null, LONG), "options must not be null");
    assertRefused(
        redlock.acquire(List.of("a"), LockOptions.defaults(), LONG, null),
        "giveUp must not be null");
    assertRefused(redlock.tryAcquire(null), "name must not be null");
    assertRefused(redlock.withLock("a", LONG, null), "body must not be null");
    assertRefused(redlock.withLock(null, LONG, lease -> null), "name must not be null");
    assertRefused(redlock.sharedLocks().getLock(null), "name must not be null");
    assertThatThrownBy(
            () ->
                CheckedVertx.get(redlock.acquire(java.util.Collections.singletonList(null), LONG)))
        .isInstanceOf(RuntimeException.class);
  }

  @Test
  void connect_completes_whenALockCanBeAcquiredAtOnce(RedisNodes nodes) {
    VertxRedlock own = CheckedVertx.get(VertxRedlock.connect(vertx, options(nodes)));
    CheckedVertx.get(own.acquire("a", Duration.ZERO).compose(VertxLease::release));
    CheckedVertx.get(own.ready());
    CheckedVertx.get(own.close());
    assertThatThrownBy(() -> CheckedVertx.get(own.ready()))
        .isInstanceOf(RedlockClosedException.class);
  }

  @Test
  void connect_badOptions_failsTheFuture() {
    RedlockOptions twice = new RedlockOptions().addNode("redis://a:1").addNode("redis://a:1");
    assertRefused(VertxRedlock.connect(vertx, twice), "configured twice");
    assertRefused(VertxRedlock.connect(vertx, new RedlockOptions()), "nodes");
    RedlockOptions file = new RedlockOptions().addNode("rediss://a:1");
    assertRefused(
        VertxRedlock.connect(vertx, file.setTrustCertificatePath("no/such.pem")), "no/such.pem");
    RedlockOptions brief = new RedlockOptions().addNode("redis://a:1").setNodeTimeoutMillis(5_000);
    assertRefused(VertxRedlock.connect(vertx, brief), "nodeTimeout");
    assertRefused(VertxRedlock.create(vertx, twice).acquire("a", LONG), "configured twice");
  }

  @Test
  void everyCall_afterVertxHasClosed_throwsNothingAndFails(RedisNodes nodes) {
    Vertx gone = Vertx.vertx(CheckedVertx.options());
    VertxRedlock own = CheckedVertx.get(VertxRedlock.connect(gone, options(nodes)));
    VertxLease lease = CheckedVertx.get(own.acquire("a", LONG));
    CheckedVertx.get(gone.close());
    for (Future<?> failed :
        List.of(
            own.acquire("a", LONG),
            own.tryAcquire("a"),
            own.withLock("a", LONG, held -> Future.succeededFuture()),
            own.sharedLocks().getLock("a"),
            own.ready(),
            VertxRedlock.create(gone, options(nodes)).acquire("a", LONG))) {
      assertThatThrownBy(() -> CheckedVertx.get(failed.onComplete(result -> {})))
          .isInstanceOf(RedlockClosedException.class);
    }
    CheckedVertx.get(lease.release().otherwiseEmpty());
    CheckedVertx.get(lease.extend().otherwiseEmpty());
    assertThat(CheckedVertx.get(lease.whenEnded())).isNotNull();
    assertThat(lease.isValid()).isFalse();
    CheckedVertx.get(own.close());
  }

  @Test
  void acquire_callerGivesUp_failsAndHoldsNothing(RedisNodes nodes) {
    VertxLease held = CheckedVertx.get(redlock.acquire("a", LONG));
    Promise<Void> gone = Promise.promise();
    Future<VertxLease> asked =
        redlock.acquire(List.of("a"), LockOptions.defaults(), LONG, gone.future());
    gone.fail("the connection was closed");
    assertThatThrownBy(() -> CheckedVertx.get(asked))
        .isInstanceOf(CancellationException.class)
        .hasMessageContaining("gave up");
    CheckedVertx.get(held.release());
    awaitNoKey(nodes, "a");
  }

  @Test
  void acquire_callerGaveUpBefore_isNeverDelivered(RedisNodes nodes) {
    for (int i = 0; i < 50; i++) {
      Promise<Void> gone = Promise.promise();
      Future<VertxLease> asked =
          redlock.acquire(List.of("a"), LockOptions.defaults(), LONG, gone.future());
      vertx.runOnContext(nothing -> gone.complete());
      VertxLease got = CheckedVertx.get(asked.otherwiseEmpty());
      // The lease was delivered before the caller gave up, so the caller owns it.
      if (got != null) {
        assertThat(got.isValid()).isTrue();
        CheckedVertx.get(got.release());
      }
    }
    awaitNoKey(nodes, "a");
  }

  @Test
  void acquire_waitIsOver_completesSoonAndHoldsNothing(RedisNodes nodes) {
    VertxLease held = CheckedVertx.get(redlock.acquire("a", LONG));
    long start = System.nanoTime();
    Future<VertxLease> asked = redlock.acquire("a", Duration.ofMillis(100));
    assertThatThrownBy(() -> CheckedVertx.get(asked)).isInstanceOf(LockTimeoutException.class);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
    CheckedVertx.get(held.release());
    awaitNoKey(nodes, "a");
  }

  @Test
  void withLock_verticleUndeployedMeanwhile_failsWithTheLoss(RedisNodes nodes) {
    Promise<String> body = Promise.promise();
    Promise<Future<String>> result = Promise.promise();
    VertxRedlock impatient = checked.client(options(nodes).setCloseGraceMillis(50));
    String id =
        CheckedVertx.get(
            vertx.deployVerticle(
                new Doing(
                    context -> {
                      Promise<Void> inside = Promise.promise();
                      result.complete(
                          impatient.withLock(
                              "a",
                              LONG,
                              lease -> {
                                inside.complete();
                                return body.future();
                              }));
                      return inside.future();
                    })));
    CheckedVertx.get(vertx.undeploy(id));
    body.complete("done");
    assertThatThrownBy(() -> CheckedVertx.get(CheckedVertx.get(result.future())))
        .isInstanceOf(LeaseLostException.class)
        .hasCauseInstanceOf(CancellationException.class);
    awaitNoKey(nodes, "a");
  }

  /** How a verticle that holds a lock may end. */
  private enum Ending {
    UNDEPLOY,
    CLIENT_CLOSE,
    VERTX_CLOSE
  }

  @ParameterizedTest
  @EnumSource
  void withLock_bodyRunsWhileItsOwnerEnds_theLockIsHeldUntilTheBodyHasEnded(
      Ending ending, RedisNodes nodes) throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    CompletableFuture<String> result = new CompletableFuture<>(); // Vert.x may close before.
    VertxRedlock patient = checked.client(options(nodes).setCloseGraceMillis(60_000));
    try (Redlock other = core(nodes)) {
      String id =
          CheckedVertx.get(
              vertx.deployVerticle(
                  new Doing(
                      context -> {
                        Promise<Void> inside = Promise.promise();
                        patient
                            .withLock("a", LONG, lease -> blocking(inside, over))
                            .onSuccess(result::complete)
                            .onFailure(result::completeExceptionally);
                        return inside.future();
                      })));
      Future<Void> ended =
          switch (ending) {
            case UNDEPLOY -> vertx.undeploy(id);
            case CLIENT_CLOSE -> patient.close();
            case VERTX_CLOSE -> vertx.close();
          };
      // On a busy machine the votes may come too late; what counts is that it is not granted.
      assertThatThrownBy(() -> other.lock("a").acquire(Duration.ofMillis(300)))
          .isInstanceOf(RedlockException.class);
      assertThat(ended.isComplete()).as("ended while the body runs").isFalse();
      over.countDown();
      other.lock("a").acquire(LONG).close();
      CheckedVertx.get(ended);
      assertThat(result.get(20, TimeUnit.SECONDS)).isEqualTo("done");
    } finally {
      over.countDown();
    }
  }

  @Test
  void close_leaseOfTheCoreClientIsHeld_waitsForItsRelease(RedisNodes nodes) {
    VertxRedlock patient = checked.client(options(nodes).setCloseGraceMillis(60_000));
    try (Redlock other = core(nodes)) {
      Lease held = patient.redlock().lock("a").acquire(LONG);
      Future<Void> closed = patient.close();
      assertThatThrownBy(() -> other.lock("a").acquire(Duration.ofMillis(300)))
          .isInstanceOf(RedlockException.class);
      assertThat(closed.isComplete()).as("closed while the lease is held").isFalse();
      held.close();
      CheckedVertx.get(closed);
      other.lock("a").acquire(LONG).close();
    }
  }

  /** Work on a worker thread until the latch opens. */
  private Future<String> blocking(Promise<Void> inside, CountDownLatch over) {
    return vertx.executeBlocking(
        () -> {
          inside.complete();
          return over.await(20, TimeUnit.SECONDS) ? "done" : "not told";
        });
  }

  private static Redlock core(RedisNodes nodes) {
    Redlock core =
        Redlock.builder()
            .nodes(nodes.uris().toArray(String[]::new))
            .restartGuard(RestartGuard.OFF)
            .nodeTimeout(Duration.ofSeconds(1))
            .build();
    assertThat(core.awaitReady(LONG)).isTrue();
    return core;
  }

  @Test
  void withLock_bodyAfterBody_countsExactly(RedisNodes nodes) {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger sum = new AtomicInteger();
    List<Future<Integer>> all =
        IntStream.range(0, 50)
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

  private void assertFails(
      RedisNodes nodes, Throwable with, Function<VertxLease, Future<Integer>> body) {
    assertThatThrownBy(() -> CheckedVertx.get(redlock.withLock("a", LONG, body)))
        .hasStackTraceContaining(with.toString());
    awaitNoKey(nodes, "a");
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> Future<Integer> thrown(Throwable any) throws T {
    throw (T) any;
  }

  @Test
  void withLock_bodyFailsOrThrows_releasesAndPassesTheFailureOn(RedisNodes nodes) {
    Exception no = new IllegalStateException("no");
    Exception checked = new java.io.IOException("thrown unseen by the compiler");
    assertFails(nodes, no, lease -> Future.failedFuture(no));
    assertFails(nodes, no, lease -> VertxRedlockIT.<RuntimeException>thrown(no));
    assertFails(nodes, checked, lease -> VertxRedlockIT.<RuntimeException>thrown(checked));
  }

  @Test
  void withLock_bodyReturnsNoFuture_failsAndReleases(RedisNodes nodes) {
    Future<Integer> own = redlock.withLock("a", LONG, lease -> null);
    Future<Integer> shared = redlock.sharedLocks().withLock("a", () -> null);
    for (Future<Integer> failed : List.of(own, shared)) {
      assertThatThrownBy(() -> CheckedVertx.get(failed)).hasMessage("the body returned no future");
    }
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
                          redlock.redlock().operations().breakLock("a");
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
            new VerticleBase() {
              private VertxLease lease;

              @Override
              public Future<?> start() {
                return redlock.acquire("a", LONG).onSuccess(l -> lease = l);
              }

              @Override
              public Future<?> stop() {
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
    try (Redlock mine = core(nodes)) {
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
