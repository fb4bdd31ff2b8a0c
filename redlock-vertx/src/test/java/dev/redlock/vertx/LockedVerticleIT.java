package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import dev.redlock.election.LeaderElection;
import dev.redlock.election.LeaderElection.State;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@RedisTest(nodes = 3)
class LockedVerticleIT {
  /** The fault of the bus; none here. */
  BusFault fault() {
    return BusFault.NONE;
  }

  /** The states of one member, and the threads on which it was notified of them. */
  private static final class Told implements LeaderElection.Listener {
    final List<State> states = new CopyOnWriteArrayList<>();
    final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    final List<Throwable> failures = new CopyOnWriteArrayList<>();

    @Override
    public void onFailure(Throwable failure) {
      failures.add(failure);
    }

    @Override
    public void onState(State from, State to) {
      states.add(to);
      threads.add(Thread.currentThread());
    }
  }

  /** A verticle whose start and stop are those of the test. */
  private static final class Inner extends VerticleBase {
    private final Function<Inner, Future<?>> onStart;
    private final Function<Inner, Future<?>> onStop;

    Inner(Function<Inner, Future<?>> onStart, Function<Inner, Future<?>> onStop) {
      this.onStart = onStart;
      this.onStop = onStop;
    }

    @Override
    public Future<?> start() {
      return onStart.apply(this);
    }

    @Override
    public Future<?> stop() {
      return onStop.apply(this);
    }

    Context context() {
      return context;
    }

    Vertx vertx() {
      return vertx;
    }
  }

  private static Future<?> done() {
    return Future.succeededFuture();
  }

  private static Inner counted(AtomicInteger running) {
    return new Inner(
        v -> {
          running.incrementAndGet();
          return done();
        },
        v -> {
          running.decrementAndGet();
          return done();
        });
  }

  /** A locked verticle on a client of its own. */
  private static LockedVerticle.Builder builder(
      CheckedVertx on, RedisNodes nodes, Supplier<? extends Deployable> inner) {
    return LockedVerticle.builder(on.client(VertxRedlockIT.options(nodes)), "job", inner);
  }

  private static LockedVerticle deployed(CheckedVertx on, LockedVerticle.Builder builder) {
    LockedVerticle verticle = builder.build();
    CheckedVertx.get(on.vertx().deployVerticle(verticle));
    return verticle;
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
          builder(a, nodes, () -> counted(running))
              .election(election -> election.listener(one))
              .build();
      String id = CheckedVertx.get(a.vertx().deployVerticle(first));
      eventually(() -> running.get() == 1 && first.state() == State.WORKING);
      LockedVerticle second =
          deployed(
              b,
              builder(b, nodes, () -> counted(running))
                  .election(election -> election.listener(two)));
      eventually(() -> second.state() == State.WAITING);
      assertThat(running).hasValue(1);
      CheckedVertx.get(a.vertx().undeploy(id));
      assertThat(first.state()).isEqualTo(State.IDLE);
      eventually(() -> second.state() == State.WORKING && running.get() == 1);
      assertThat(one.states)
          .containsExactly(State.ACQUIRING, State.WORKING, State.RELEASING, State.IDLE);
      eventually(() -> two.states.contains(State.WORKING));
      assertThat(two.states).containsExactly(State.ACQUIRING, State.WAITING, State.WORKING);
      assertThat(one.threads).as("the thread of its context only").hasSize(1);
      assertThat(one.threads.iterator().next().getName()).startsWith("vert.x-eventloop");
    }
  }

  @Test
  void leaseLost_innerVerticleIsStopped_andRunsAgainWhenTheLockIsGranted(RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start(fault())) {
      AtomicInteger running = new AtomicInteger();
      Told told = new Told();
      VertxRedlock redlock = a.client(VertxRedlockIT.options(nodes));
      LockedVerticle verticle =
          LockedVerticle.builder(redlock, "job", () -> counted(running))
              .election(e -> e.listener(told).options(leaseOf(Duration.ofSeconds(3))))
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
                  LockedVerticle.builder(redlock, "job", () -> counted(running)).build()));
      eventually(() -> running.get() == 1);
    }
    assertThat(running).hasValue(0);
    eventually(() -> nodes.stream().noneMatch(n -> n.key("redlock:{job}").isPresent()));
  }

  @Test
  void inner_failsToStart_isRetried(RedisNodes nodes) {
    AtomicInteger tries = new AtomicInteger();
    try (CheckedVertx a = CheckedVertx.start(fault())) {
      Supplier<Inner> work =
          () ->
              new Inner(
                  v -> tries.incrementAndGet() == 1 ? Future.failedFuture("not yet") : done(),
                  v -> done());
      LockedVerticle verticle =
          deployed(
              a,
              builder(a, nodes, work)
                  .election(election -> election.retryPause(Duration.ofMillis(50))));
      eventually(() -> tries.get() == 2 && verticle.state() == State.WORKING);
    }
  }

  @Test
  void inner_undeploysItself_releasesTheLockAndAnotherMemberTakesOver(RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start(fault());
        CheckedVertx b = CheckedVertx.start(fault())) {
      AtomicInteger running = new AtomicInteger();
      AtomicReference<Context> inside = new AtomicReference<>();
      Told told = new Told();
      Supplier<Inner> work =
          () ->
              new Inner(
                  v -> {
                    inside.set(v.context());
                    running.incrementAndGet();
                    return done();
                  },
                  v -> v.vertx().timer(50).onSuccess(fired -> running.decrementAndGet()));
      LockedVerticle first =
          deployed(
              a,
              builder(a, nodes, work)
                  .election(
                      election -> election.listener(told).retryPause(Duration.ofSeconds(20))));
      eventually(() -> running.get() == 1 && first.state() == State.WORKING);
      LockedVerticle second = deployed(b, builder(b, nodes, () -> counted(running)));
      Context own = inside.get();
      own.runOnContext(nothing -> a.vertx().undeploy(own.deploymentID()));
      eventually(() -> second.state() == State.WORKING);
      assertThat(running.get()).as("the first had stopped before").isLessThanOrEqualTo(1);
      eventually(() -> running.get() == 1);
      // The second may work before the first has heard that its release is done.
      eventually(() -> first.state() == State.WAITING && told.states.size() >= 4);
      assertThat(told.states)
          .containsExactly(State.ACQUIRING, State.WORKING, State.RELEASING, State.WAITING);
      assertThat(told.failures).isEmpty();
    }
  }

  /** Work whose stop takes until the test ends it. */
  private static final class Slow extends VerticleBase {
    final Promise<Void> started = Promise.promise();
    final Promise<Void> stopping = Promise.promise();
    final Promise<Void> over = Promise.promise();

    @Override
    public Future<?> start() {
      started.complete();
      return Future.succeededFuture();
    }

    @Override
    public Future<?> stop() {
      stopping.tryComplete();
      return over.future();
    }

    Future<Void> undeployItself() {
      return vertx.undeploy(context.deploymentID());
    }
  }

  /** Asserts that no client acquires the lock before the slow work ends, and one does then. */
  private static void assertHeldUntilOver(Slow work, VertxRedlock other) {
    CheckedVertx.get(work.stopping.future());
    // On a busy machine the votes may come too late; what counts is that it is not granted.
    Future<VertxLease> early = other.acquire("job", Duration.ofMillis(300));
    assertThat(CheckedVertx.get(early.otherwiseEmpty())).isNull();
    work.over.complete();
    CheckedVertx.get(other.acquire("job", Duration.ofSeconds(15)).compose(VertxLease::release));
  }

  private static LockedVerticle working(
      CheckedVertx a, VertxRedlock redlock, Slow work, Told told) {
    LockedVerticle verticle =
        LockedVerticle.builder(redlock, "job", () -> work)
            .election(election -> election.listener(told).retryPause(Duration.ofSeconds(20)))
            .build();
    CheckedVertx.get(a.vertx().deployVerticle(verticle));
    // The state alone does not suffice: work that has not started yet is never started after a
    // close.
    CheckedVertx.get(work.started.future());
    eventually(() -> verticle.state() == State.WORKING);
    return verticle;
  }

  @Test
  void inner_undeploysItselfWhileTheMemberResigns_theLockIsHeldUntilItHasStopped(RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start(fault());
        CheckedVertx b = CheckedVertx.start(fault())) {
      Slow work = new Slow();
      Told told = new Told();
      LockedVerticle verticle = working(a, a.client(VertxRedlockIT.options(nodes)), work, told);
      a.vertx().runOnContext(nothing -> work.undeployItself());
      CheckedVertx.get(work.stopping.future());
      verticle.election().resign();
      assertHeldUntilOver(work, b.client(VertxRedlockIT.options(nodes)));
      eventually(() -> verticle.state() == State.WAITING);
      assertThat(told.failures).isEmpty();
    }
  }

  @Test
  void close_ofTheClientOfAWorkingMember_stopsTheInnerVerticleBeforeTheLockIsFree(
      RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start(fault());
        CheckedVertx b = CheckedVertx.start(fault())) {
      Slow work = new Slow();
      Told told = new Told();
      VertxRedlock redlock = a.client(VertxRedlockIT.options(nodes));
      LockedVerticle verticle = working(a, redlock, work, told);
      Future<Void> closed = redlock.close();
      assertHeldUntilOver(work, b.client(VertxRedlockIT.options(nodes)));
      CheckedVertx.get(closed);
      eventually(() -> verticle.state() == State.IDLE);
      assertThat(told.failures).isEmpty();
    }
  }

  @Test
  void inner_childFailsToStop_theInnerVerticleIsStoppedBeforeTheLockIsReleased(RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start(fault())) {
      AtomicInteger started = new AtomicInteger();
      AtomicInteger running = new AtomicInteger();
      List<Integer> seen = new CopyOnWriteArrayList<>();
      Supplier<Inner> work =
          () ->
              new Inner(
                  v -> {
                    seen.add(running.incrementAndGet());
                    return v.vertx()
                        .deployVerticle(
                            new Inner(child -> done(), child -> Future.failedFuture("no")))
                        .onComplete(child -> started.incrementAndGet());
                  },
                  v -> {
                    running.decrementAndGet();
                    return done();
                  });
      LockedVerticle verticle =
          deployed(
              a,
              builder(a, nodes, work)
                  .election(election -> election.retryPause(Duration.ofMillis(50))));
      eventually(() -> verticle.state() == State.WORKING && started.get() == 1);
      verticle.election().resign();
      eventually(() -> verticle.state() == State.WORKING && started.get() == 2);
      assertThat(seen).as("verticles that run at the same time").containsExactly(1, 1);
    }
  }

  /** The base class of Vert.x 3 and 4, which many verticles still have. */
  private static final class Old extends AbstractVerticle {
    private final Set<Thread> threads;
    private final AtomicInteger running;

    Old(Set<Thread> threads, AtomicInteger running) {
      this.threads = threads;
      this.running = running;
    }

    @Override
    public void start() {
      threads.add(Thread.currentThread());
      running.incrementAndGet();
    }

    @Override
    public void stop() {
      running.decrementAndGet();
    }
  }

  @Test
  void inner_severalInstancesOfAnAbstractVerticle_allRunAndAllStop(RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start(fault())) {
      Set<Thread> threads = ConcurrentHashMap.newKeySet();
      AtomicInteger running = new AtomicInteger();
      LockedVerticle verticle =
          builder(a, nodes, () -> new Old(threads, running))
              .deployment(new DeploymentOptions().setInstances(2))
              .livenessProbe(true)
              .build();
      String id = CheckedVertx.get(a.vertx().deployVerticle(verticle));
      eventually(() -> running.get() == 2 && verticle.state() == State.WORKING);
      assertThat(threads).as("event loops").hasSize(2);
      CheckedVertx.get(a.vertx().undeploy(id));
      assertThat(running).hasValue(0);
      eventually(() -> nodes.stream().noneMatch(n -> n.key("redlock:{job}").isPresent()));
    }
  }

  @Test
  void inner_failsToStop_theLockIsReleasedAndCanBeHadAgain(RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start(fault())) {
      AtomicInteger started = new AtomicInteger();
      Supplier<Inner> work =
          () ->
              new Inner(
                  v -> {
                    started.incrementAndGet();
                    return done();
                  },
                  v -> Future.failedFuture("no"));
      LockedVerticle verticle =
          deployed(
              a,
              builder(a, nodes, work)
                  .election(election -> election.retryPause(Duration.ofMillis(50))));
      eventually(() -> verticle.state() == State.WORKING && started.get() == 1);
      verticle.election().resign();
      eventually(() -> verticle.state() == State.WORKING && started.get() == 2);
    }
  }

  @Tag("thorough")
  @Test
  void livenessProbe_innerIsBlocked_losesItsTenureAndAnotherMemberTakesOver(RedisNodes nodes) {
    CountDownLatch over = new CountDownLatch(1);
    try (CheckedVertx a = CheckedVertx.start(fault());
        CheckedVertx b = CheckedVertx.start(fault())) {
      AtomicReference<Context> inside = new AtomicReference<>();
      AtomicInteger started = new AtomicInteger();
      AtomicInteger running = new AtomicInteger();
      Supplier<Inner> work =
          () ->
              new Inner(
                  v -> {
                    inside.set(v.context());
                    started.incrementAndGet();
                    return done();
                  },
                  v -> done());
      LockedVerticle first =
          deployed(
              a,
              brief(builder(a, nodes, work))
                  .deployment(new DeploymentOptions().setThreadingModel(ThreadingModel.WORKER)));
      eventually(() -> inside.get() != null && first.state() == State.WORKING);
      long begin = System.nanoTime();
      eventually(() -> System.nanoTime() - begin > BRIEF.toNanos());
      // After a pause of the machine it renews for a moment.
      eventually(() -> first.state() == State.WORKING);
      assertThat(started).as("tenures; the probes keep the lease").hasValue(1);
      LockedVerticle second = deployed(b, brief(builder(b, nodes, () -> counted(running))));
      inside
          .get()
          .runOnContext(
              nothing -> {
                try {
                  over.await(30, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              });
      eventually(() -> second.state() == State.WORKING && running.get() == 1);
      assertThat(first.state()).isNotEqualTo(State.WORKING);
      over.countDown();
      eventually(() -> first.state() == State.WAITING);
    } finally {
      over.countDown();
    }
  }

  /** A short pause of the machine must not end a tenure. */
  private static final Duration BRIEF = Duration.ofSeconds(4);

  private static LockOptions leaseOf(Duration time) {
    return LockOptions.builder().leaseTime(time).nodeTimeout(time.dividedBy(4)).build();
  }

  private static LockedVerticle.Builder brief(LockedVerticle.Builder builder) {
    return builder.election(election -> election.options(leaseOf(BRIEF))).livenessProbe(true);
  }

  @Test
  void undeploy_beforeTheClientIsBuilt_startsNothing(RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start(fault())) {
      AtomicInteger running = new AtomicInteger();
      VertxRedlock redlock = VertxRedlock.create(a.vertx(), VertxRedlockIT.options(nodes));
      LockedVerticle verticle =
          LockedVerticle.builder(redlock, "job", () -> counted(running)).build();
      Promise<String> deployed = Promise.promise();
      // Vert.x 5 gives no id for a deployment in progress. Only its parent can end it.
      Inner parent =
          new Inner(
              v -> {
                v.vertx().deployVerticle(verticle).onComplete(deployed);
                return done();
              },
              v -> done());
      CheckedVertx.get(a.vertx().deployVerticle(parent).compose(a.vertx()::undeploy));
      CheckedVertx.get(deployed.future().otherwiseEmpty());
      assertThat(a.vertx().deploymentIDs()).isEmpty();
      CheckedVertx.get(redlock.ready());
      CheckedVertx.get(redlock.acquire("job", Duration.ofSeconds(5)).compose(VertxLease::release));
      assertThat(running).hasValue(0);
    }
  }

  @Test
  void vertxClose_beforeTheClientIsBuilt_startsNothing(RedisNodes nodes) {
    try (CheckedVertx a = CheckedVertx.start(fault());
        CheckedVertx b = CheckedVertx.start(fault())) {
      AtomicInteger running = new AtomicInteger();
      VertxRedlock redlock = VertxRedlock.create(a.vertx(), VertxRedlockIT.options(nodes));
      LockedVerticle verticle =
          LockedVerticle.builder(redlock, "job", () -> counted(running)).build();
      a.vertx().deployVerticle(verticle);
      CheckedVertx.get(a.vertx().close());
      VertxRedlock other = b.client(VertxRedlockIT.options(nodes));
      CheckedVertx.get(other.acquire("job", Duration.ofSeconds(5)).compose(VertxLease::release));
      assertThat(running).hasValue(0);
    }
  }
}
