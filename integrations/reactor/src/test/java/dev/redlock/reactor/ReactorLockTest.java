package dev.redlock.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.redlock.DistributedLock;
import dev.redlock.FencingToken;
import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.Cancellable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;

@Timeout(120)
class ReactorLockTest {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final int STORM = 10_000;
  private static final int SMALLER_STORM = 2_000;

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };
  private final Set<FencingToken> granted = ConcurrentHashMap.newKeySet();
  private final Set<FencingToken> ended = ConcurrentHashMap.newKeySet();
  private final Queue<Throwable> dropped = new ConcurrentLinkedQueue<>();
  private Redlock redlock;
  private Redlock other;

  @BeforeEach
  void connect() {
    Hooks.onErrorDropped(dropped::add);
    redlock = client();
    other = client();
    assertThat(redlock.awaitReady(WAIT)).isTrue();
    assertThat(other.awaitReady(WAIT)).isTrue();
  }

  @AfterEach
  void disconnect() {
    redlock.close();
    other.close();
    Hooks.resetOnErrorDropped();
    // Reactor logs these as errors.
    assertThat(dropped).filteredOn(UnsupportedOperationException.class::isInstance).isEmpty();
  }

  private Redlock client() {
    LockNode[] own = new LockNode[nodes.length];
    for (int i = 0; i < own.length; i++) {
      own[i] = nodes[i].another();
    }
    return Redlock.builder()
        .nodes(own)
        .restartGuard(RestartGuard.OFF)
        .listener(
            new RedlockListener() {
              @Override
              public void onAcquired(Lease lease, Duration waited) {
                granted.add(lease.fencingToken());
              }

              @Override
              public void onEnded(
                  Lease lease, dev.redlock.LeaseEnd end, Duration held, Duration left) {
                ended.add(lease.fencingToken());
              }
            })
        .build();
  }

  private ReactorLock lock() {
    return ReactorLock.of(redlock.lock("name"));
  }

  private void awaitFree() {
    await()
        .atMost(DEADLINE)
        .untilAsserted(
            () -> {
              for (InMemoryLockNode node : nodes) {
                assertThat(node.holder("name")).as(node.name()).isNull();
              }
            });
  }

  @Test
  void acquire_ofAFreeLock_emitsALeaseThatTheSubscriberReleases() {
    Mono<Lease> acquire = lock().acquire(WAIT);
    Lease first = acquire.block(WAIT);
    assertThat(first.isValid()).isTrue();
    first.close();
    Lease second = acquire.block(WAIT);
    assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
    second.close();
    awaitFree();
  }

  @Test
  void tryAcquire_ofAHeldLock_completesEmpty() {
    try (Lease held = other.lock("name").acquire(WAIT)) {
      assertThat(lock().tryAcquire().blockOptional(WAIT)).isEmpty();
      assertThat(held.isValid()).isTrue();
    }
    Lease lease = lock().tryAcquire().block(WAIT);
    assertThat(lease.isValid()).isTrue();
    lease.close();
  }

  @Test
  void acquire_thatIsNotSubscribedTo_asksNoNode() {
    lock().acquire(WAIT);
    lock().withLock(WAIT, lease -> Mono.just(1));
    assertThat(other.lock("name").tryAcquire()).hasValueSatisfying(Lease::close);
  }

  @Test
  void acquire_beyondTheWaitTimeout_failsWithLockTimeout() {
    try (Lease held = other.lock("name").acquire(WAIT)) {
      assertThatThrownBy(() -> lock().acquire(Duration.ofMillis(20)).block(WAIT))
          .isInstanceOf(LockTimeoutException.class);
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void withLock_whoseBodyCompletes_releasesBeforeItEmits() {
    Boolean validInside = lock().withLock(WAIT, lease -> Mono.just(lease.isValid())).block(WAIT);
    assertThat(validInside).isTrue();
    assertThat(other.lock("name").tryAcquire()).hasValueSatisfying(Lease::close);
  }

  @Test
  void withLock_whoseBodyFailsOrThrows_failsWithThatAndReleases() {
    IllegalStateException failure = new IllegalStateException("body");
    assertThatThrownBy(() -> lock().withLock(WAIT, lease -> Mono.error(failure)).block(WAIT))
        .isSameAs(failure);
    assertThatThrownBy(
            () ->
                lock()
                    .withLock(
                        WAIT,
                        lease -> {
                          throw failure;
                        })
                    .block(WAIT))
        .isSameAs(failure);
    awaitFree();
  }

  @Test
  void withLock_whoseLeaseIsLost_failsInsteadOfEmitting() {
    assertThatThrownBy(
            () -> lock().withLock(WAIT, lease -> breakLock(lease).thenReturn(1)).block(WAIT))
        .isInstanceOf(LeaseLostException.class);
  }

  @Test
  void withLockMany_whoseLeaseIsLost_failsAtTheEnd() {
    List<Integer> seen = new ArrayList<>();
    Flux<Integer> values =
        lock()
            .withLockMany(
                WAIT,
                lease -> Flux.concat(Flux.just(1, 2), breakLock(lease).then().cast(Integer.class)));
    assertThatThrownBy(() -> values.doOnNext(seen::add).blockLast(WAIT))
        .isInstanceOf(LeaseLostException.class);
    assertThat(seen).containsExactly(1, 2);
  }

  @Test
  void withLock_whoseBodyReleasesTheLease_emitsItsValue() {
    Integer value =
        lock()
            .withLock(WAIT, lease -> Mono.fromCompletionStage(lease::releaseAsync).thenReturn(7))
            .block(WAIT);
    assertThat(value).isEqualTo(7);
  }

  @Test
  void withLock_thatInterruptsOnLoss_cancelsABodyThatNeverEnds() {
    DistributedLock interrupting =
        redlock.lock("name", LockOptions.builder().interruptOnLoss(true).build());
    AtomicBoolean cancelled = new AtomicBoolean();
    Mono<Integer> work =
        ReactorLock.of(interrupting)
            .withLock(
                WAIT,
                lease ->
                    breakLock(lease)
                        .then(Mono.<Integer>never())
                        .doOnCancel(() -> cancelled.set(true)));
    assertThatThrownBy(() -> work.block(WAIT)).isInstanceOf(LeaseLostException.class);
    assertThat(cancelled).isTrue();
  }

  /** Takes the lock from its holder and waits until the holder knows. */
  private Mono<?> breakLock(Lease lease) {
    return Mono.fromCompletionStage(() -> other.operations().breakLock("name"))
        .then(Mono.fromCompletionStage(lease::extendAsync))
        .onErrorComplete();
  }

  @Test
  void withLock_cancelledTenThousandTimesAroundTheGrant_leavesNoLeaseAndNoWaiter()
      throws Exception {
    storm(
        STORM,
        () -> lock().withLock(WAIT, lease -> Mono.never()).subscribe(value -> {}, failure -> {}));
  }

  @Test
  void withLockMany_cancelledManyTimesAroundTheGrant_leavesNoLeaseAndNoWaiter() throws Exception {
    storm(
        SMALLER_STORM,
        () ->
            lock().withLockMany(WAIT, lease -> Flux.never()).subscribe(value -> {}, failure -> {}));
  }

  @Test
  void acquire_cancelledTenThousandTimesAroundTheGrant_leavesNoLeaseAndNoWaiter() throws Exception {
    storm(STORM, () -> lock().acquire(WAIT).subscribeWith(new Releasing()));
  }

  @Test
  void tryAcquire_cancelledManyTimesAroundTheGrant_leavesNoLease() throws Exception {
    storm(SMALLER_STORM, () -> lock().tryAcquire().subscribeWith(new Releasing()));
  }

  /** What docs/spring.md gives to users of Mutiny. */
  private <T> Uni<T> uni(Function<Lease, Uni<T>> body) {
    return Uni.createFrom()
        .publisher(
            JdkFlowAdapter.publisherToFlowPublisher(
                lock()
                    .withLock(
                        WAIT,
                        lease ->
                            Mono.fromFuture(
                                () -> body.apply(lease).subscribeAsCompletionStage()))));
  }

  @Test
  void uni_runsUnderTheLockAndReleases() {
    assertThat(uni(lease -> Uni.createFrom().item(lease::isValid)).await().atMost(WAIT)).isTrue();
    awaitFree();
    assertThatThrownBy(
            () ->
                uni(lease -> Uni.createFrom().failure(new IllegalStateException("hostile")))
                    .await()
                    .atMost(WAIT))
        .isInstanceOf(IllegalStateException.class);
    awaitFree();
  }

  @Test
  void uni_cancelledManyTimesAroundTheGrant_leavesNoLeaseAndNoWaiter() throws Exception {
    storm(
        SMALLER_STORM,
        () -> {
          Cancellable work =
              uni(lease -> Uni.createFrom().nothing()).subscribe().with(value -> {}, failure -> {});
          return work::cancel;
        });
  }

  @Test
  void withLock_whoseBodyIsNullOrThrowsAnError_failsAndReleases() {
    assertThatThrownBy(() -> lock().withLock(WAIT, lease -> null).block(WAIT))
        .isInstanceOf(NullPointerException.class);
    awaitFree();
    Mono<?> hostile =
        lock()
            .withLock(
                WAIT,
                lease -> {
                  throw new StackOverflowError("hostile");
                });
    assertThatThrownBy(() -> hostile.block(WAIT)).hasStackTraceContaining("hostile");
    awaitFree();
  }

  /** Releases what it is given; a lease that arrives after it cancelled reaches it too. */
  private static final class Releasing extends BaseSubscriber<Lease> {
    @Override
    protected void hookOnNext(Lease lease) {
      lease.releaseAsync();
    }

    @Override
    protected void hookOnError(Throwable failure) {}
  }

  private void storm(int times, Supplier<Disposable> subscription) throws Exception {
    long seed = System.nanoTime();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Random random = new Random(seed + i);
      Thread thread =
          new Thread(
              () -> {
                for (int n = 0; n < times / 4; n++) {
                  long until = System.nanoTime() + random.nextInt(400_000);
                  Disposable attempt = subscription.get();
                  while (System.nanoTime() < until) {
                    Thread.onSpinWait();
                  }
                  attempt.dispose();
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join(TimeUnit.SECONDS.toMillis(60));
      assertThat(thread.isAlive()).as("storm thread alive, seed %d", seed).isFalse();
    }
    awaitFree();
    await()
        .atMost(DEADLINE)
        .untilAsserted(() -> assertThat(ended).as("seed %d", seed).containsAll(granted));
    assertThat(granted).as("grants of the storm, seed %d", seed).isNotEmpty();
    assertNoWaiter(seed);
  }

  /** One waiter fits into a queue of one, so no other waiter is left there. */
  private void assertNoWaiter(long seed) {
    DistributedLock one = redlock.lock("name", LockOptions.builder().queueBound(1).build());
    Lease held = other.lock("name").acquire(WAIT);
    var waiting = one.acquireAsync(WAIT);
    held.close();
    Lease next = waiting.orTimeout(30, TimeUnit.SECONDS).join();
    assertThat(next.isValid()).as("seed %d", seed).isTrue();
    next.close();
  }
}
