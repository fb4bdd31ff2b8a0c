package dev.redlock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.RestartGuard;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of an observed lock are observations with keys, and behave as those of the lock. */
class ObservedLockTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final TestObservationRegistry observations = TestObservationRegistry.create();
  private Redlock client;
  private DistributedLock lock;

  @BeforeEach
  void open() {
    client =
        Redlock.builder()
            .nodes(InMemoryLockNode.create("a"))
            .restartGuard(RestartGuard.OFF)
            .nodeTimeout(Duration.ofSeconds(1))
            .build();
    assertThat(client.awaitReady(WAIT)).isTrue();
    lock = ObservedLock.of(client.lock("stock"), observations);
  }

  @AfterEach
  void close() {
    client.close();
  }

  private void observed(String operation, String outcome) {
    TestObservationRegistryAssert.assertThat(observations)
        .hasNumberOfObservationsWithNameEqualTo("redlock.lock", 1)
        .hasObservationWithNameEqualTo("redlock.lock")
        .that()
        .hasBeenStarted()
        .hasBeenStopped()
        .hasLowCardinalityKeyValue("redlock.operation", operation)
        .hasLowCardinalityKeyValue("redlock.outcome", outcome)
        .hasHighCardinalityKeyValue("redlock.names", "stock");
  }

  @Test
  void acquire_granted_hasNamesAndToken() {
    try (Lease lease = lock.acquire(WAIT)) {
      observed("acquire", "acquired");
      TestObservationRegistryAssert.assertThat(observations)
          .hasObservationWithNameEqualTo("redlock.lock")
          .that()
          .hasHighCardinalityKeyValue("redlock.token", Long.toString(lease.fencingToken().value()));
    }
  }

  @Test
  void acquire_ofAHeldLock_isAnErrorWithTheVerdict() {
    try (Lease lease = client.lock("stock").acquire(WAIT)) {
      assertThatThrownBy(() -> lock.acquire(Duration.ofMillis(20)))
          .isInstanceOf(LockTimeoutException.class);
      assertThat(lease.isValid()).isTrue();
    }
    observed("acquire", "held_locally");
  }

  @Test
  void tryAcquire_ofAHeldLock_isRefusedWithoutError() {
    try (Lease lease = client.lock("stock").acquire(WAIT)) {
      assertThat(lock.tryAcquire()).isEmpty();
      assertThat(lease.isValid()).isTrue();
    }
    observed("try_acquire", "held");
  }

  @Test
  void acquireAsync_cancelled_reachesTheLock() {
    try (Lease lease = client.lock("stock").acquire(WAIT)) {
      CompletableFuture<Lease> waits = lock.acquireAsync(WAIT);
      waits.cancel(true);
      assertThat(lease.isValid()).isTrue();
    }
    observed("acquire", "cancelled");
    try (Lease next = client.lock("stock").acquire(WAIT)) {
      assertThat(next.isValid()).isTrue();
    }
  }

  @Test
  void withLock_bodyRunsInTheScope() {
    String name =
        lock.withLock(
            WAIT, lease -> observations.getCurrentObservation().getContextView().getName());
    assertThat(name).isEqualTo("redlock.lock");
    assertThat(observations.getCurrentObservation()).isNull();
    observed("with_lock", "acquired");
  }

  @Test
  void withLock_bodyThrows_isAnErrorOfTheObservation() {
    IllegalStateException failure = new IllegalStateException("on purpose");
    assertThatThrownBy(
            () ->
                lock.withLock(
                    WAIT,
                    lease -> {
                      throw failure;
                    }))
        .isSameAs(failure);
    observed("with_lock", "error");
  }

  private static IllegalStateException onPurpose() {
    return new IllegalStateException("on purpose");
  }

  /** Checks that a lock works as before when a part of its observation fails. */
  private void isUnharmed(DistributedLock observed, ObservationRegistry registry) {
    Lease lease = observed.acquire(WAIT);
    assertThat(lease.isValid()).isTrue();
    assertThat(observed.tryAcquire()).isEmpty();
    assertThatThrownBy(() -> observed.acquire(Duration.ofMillis(1)))
        .isInstanceOf(LockTimeoutException.class);
    CompletableFuture<Lease> next = observed.acquireAsync(WAIT);
    lease.close();
    next.join().close();
    assertThat(observed.<String, RuntimeException>withLock(WAIT, l -> "done")).isEqualTo("done");
    observed.tryAcquireAsync().join().orElseThrow().close();
    assertThat(registry.getCurrentObservation()).isNull();
    assertThat(registry.getCurrentObservationScope()).isNull();
  }

  @Test
  void convention_thatThrows_takesNoLeaseFromItsCaller() {
    ObservationRegistry registry = ObservationRegistry.create();
    registry.observationConfig().observationHandler(context -> true);
    LockObservationConvention atTheEnd =
        new DefaultLockObservationConvention() {
          @Override
          public KeyValues getHighCardinalityKeyValues(LockContext context) {
            if (context.lease() != null || context.getError() != null) {
              throw onPurpose();
            }
            return KeyValues.empty();
          }
        };
    isUnharmed(ObservedLock.of(client.lock("stock"), registry, atTheEnd), registry);
    LockObservationConvention atTheBeginning =
        new DefaultLockObservationConvention() {
          @Override
          public String getName() {
            throw onPurpose();
          }
        };
    isUnharmed(ObservedLock.of(client.lock("stock"), registry, atTheBeginning), registry);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"onStart", "onError", "onEvent", "onScopeOpened", "onScopeClosed", "onStop"})
  void handler_thatThrows_takesNoLeaseFromItsCaller(String method) {
    ObservationRegistry registry = ObservationRegistry.create();
    Object handler =
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {ObservationHandler.class},
            (proxy, called, arguments) -> {
              if (called.getName().equals(method)) {
                throw onPurpose();
              }
              return called.getReturnType() == boolean.class ? true : null;
            });
    registry.observationConfig().observationHandler((ObservationHandler<?>) handler);
    isUnharmed(ObservedLock.of(client.lock("stock"), registry), registry);
  }

  @Test
  void convention_ofTheApplication_namesTheObservation() {
    LockObservationConvention own =
        new DefaultLockObservationConvention() {
          @Override
          public String getName() {
            return "my.lock";
          }
        };
    ObservedLock.of(client.lock("stock"), observations, own).acquire(WAIT).close();
    TestObservationRegistryAssert.assertThat(observations)
        .hasObservationWithNameEqualTo("my.lock")
        .that()
        .hasBeenStopped();
  }

  @Test
  void client_thatIsObserved_observesItsLocksAndClosesTheClient() {
    Redlock observed = ObservedRedlock.of(client, observations);
    observed.lock("stock").acquire(WAIT).close();
    observed("acquire", "acquired");
    observed.lock(java.util.List.of("a", "b"), observed.defaultOptions()).acquire(WAIT).close();
    TestObservationRegistryAssert.assertThat(observations)
        .hasNumberOfObservationsWithNameEqualTo("redlock.lock", 2);
    assertThat(observed.operations().nodes()).hasSize(1);
    observed.close();
    assertThatThrownBy(() -> client.lock("stock").acquire(WAIT))
        .isInstanceOf(dev.redlock.RedlockClosedException.class);
  }
}
