package dev.redlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.redlock.FencingToken;
import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.spring.Locked.NotAcquired;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.PriorityOrdered;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@Timeout(60)
class LockedTest {
  private static final Duration DEADLINE = MemoryNodes.DEADLINE;

  private final MemoryNodes nodes = new MemoryNodes();
  private final Redlock other = nodes.client();

  private final ApplicationContextRunner app =
      nodes.app().withBean(Shop.class, () -> new Shop(nodes)).withPropertyValues("shop.wait=30ms");

  @AfterEach
  void disconnect() {
    other.close();
  }

  private interface Body {
    void run(Shop shop) throws Exception;
  }

  private void withShop(Body body) {
    app.run(
        context -> {
          assertThat(context).hasNotFailed();
          assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
          body.run(context.getBean(Shop.class));
        });
  }

  record Order(long id, List<String> parts) {}

  /** Reports what holds while its methods run. */
  static class Shop {
    private final AtomicInteger calls = new AtomicInteger();
    private final MemoryNodes nodes;

    Shop(MemoryNodes nodes) {
      this.nodes = nodes;
    }

    public int calls() {
      return calls.get();
    }

    @Locked("order-#{#id}")
    public boolean ship(long id, Lease lease, FencingToken token) {
      return nodes.isHeld("order-" + id)
          && lease.isValid()
          && lease.fencingToken().equals(token)
          && lease.names().equals(List.of("order-" + id));
    }

    @Locked({"order-#{#order.id}", "#{#order.parts}"})
    public List<String> pack(Order order, Lease lease) {
      return lease.names();
    }

    @Locked(names = "order-#{#id}", leaseTime = "5s")
    public Duration validity(Long id, Lease lease) {
      return lease.remainingValidity();
    }

    @Locked("order-#{#id}")
    public void failing(long id) throws IOException {
      throw new IOException("order " + id);
    }

    @Locked(value = "order-#{#id}", waitTime = "${shop.wait}")
    public void throwing(long id) {
      calls.incrementAndGet();
    }

    @Locked(value = "order-#{#id}", waitTime = "0s", notAcquired = NotAcquired.SKIP)
    public int skipping(long id) {
      return calls.incrementAndGet();
    }

    @Locked(value = "order-#{#id}", waitTime = "0s", notAcquired = NotAcquired.SKIP)
    public Optional<Integer> skippingOptional(long id) {
      return Optional.of(calls.incrementAndGet());
    }

    @Locked(
        value = "order-#{#id}",
        waitTime = "0s",
        notAcquired = NotAcquired.RETURN,
        otherwise = "'busy ' + #id")
    public String returning(long id) {
      return "done";
    }

    @Locked(value = "order-#{#id}", waitTime = "${shop.wait}", notAcquired = NotAcquired.SKIP)
    public int skippingSoon(long id) {
      return calls.incrementAndGet();
    }

    @Locked(
        value = "order-#{#id}",
        waitTime = "${shop.wait}",
        notAcquired = NotAcquired.RETURN,
        otherwise = "'busy'")
    public CompletableFuture<String> returningSoon(long id) {
      calls.incrementAndGet();
      return CompletableFuture.completedFuture("done");
    }

    @Locked(value = "order-#{#id}", waitTime = "${shop.wait}", notAcquired = NotAcquired.SKIP)
    public Flux<Integer> skippingReactive(long id) {
      return Flux.just(calls.incrementAndGet());
    }

    @Locked(value = "outer", waitTime = "10s", notAcquired = NotAcquired.SKIP)
    public void nested(Redlock redlock) {
      redlock.lock("order-1").acquire(Duration.ZERO);
    }

    @Locked("order-#{#id}")
    public CompletableFuture<Boolean> shipLater(long id, CompletableFuture<?> go, Lease lease) {
      return go.thenApply(x -> nodes.isHeld("order-" + id) && lease.isValid());
    }

    @Locked(value = "order-#{#id}", waitTime = "0s", notAcquired = NotAcquired.SKIP)
    public CompletableFuture<String> skippingLater(long id) {
      return CompletableFuture.completedFuture("done");
    }

    @Locked("order-#{#id}")
    public Mono<Boolean> shipReactive(long id, Mono<?> go, Lease lease) {
      return go.then(Mono.fromSupplier(() -> nodes.isHeld("order-" + id) && lease.isValid()));
    }

    @Locked(
        value = "order-#{#id}",
        waitTime = "0s",
        notAcquired = NotAcquired.RETURN,
        otherwise = "'busy'")
    public Mono<String> returningReactive(long id) {
      return Mono.just("done");
    }

    @Locked("order-#{#id}")
    public Flux<Boolean> shipMany(long id) {
      return Flux.range(0, 3).map(i -> nodes.isHeld("order-" + id));
    }

    @Locked("lost")
    public void loses(Redlock operator, Lease lease) {
      operator.operations().breakLock("lost").toCompletableFuture().join();
      lease.extendAsync().toCompletableFuture().handle((done, failure) -> null).join();
    }
  }

  @Test
  void method_runsWhileItsLockIsHeldWithLeaseAndTokenFilledIn() {
    withShop(
        shop -> {
          assertThat(shop.ship(7, null, null)).isTrue();
          nodes.awaitFree("order-7");
        });
  }

  @Test
  void method_withSeveralNamesAndACollection_locksAllOfThem() {
    withShop(
        shop ->
            assertThat(shop.pack(new Order(7, List.of("bolt", "nut")), null))
                .containsExactly("bolt", "nut", "order-7"));
  }

  @Test
  void leaseTime_ofTheAnnotation_isUsed() {
    withShop(
        shop -> assertThat(shop.validity(1L, null)).isLessThanOrEqualTo(Duration.ofSeconds(5)));
  }

  @Test
  void expression_thatIsNullOrEmpty_isAnErrorAndNoSharedName() {
    withShop(
        shop -> {
          assertThatThrownBy(() -> shop.validity(null, null))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("@Locked on")
              .hasMessageContaining("#id");
          assertThatThrownBy(() -> shop.pack(new Order(1, List.of("")), null))
              .isInstanceOf(IllegalArgumentException.class);
        });
  }

  @Test
  void method_thatThrowsACheckedException_throwsItAndReleases() {
    withShop(
        shop -> {
          assertThatThrownBy(() -> shop.failing(1))
              .isInstanceOf(IOException.class)
              .hasMessage("order 1");
          nodes.awaitFree("order-1");
        });
  }

  @Test
  void lockThatIsHeld_makesTheMethodThrowSkipOrReturnAsAnnotated() {
    withShop(
        shop -> {
          try (Lease held = other.lock("order-1").acquire(DEADLINE)) {
            assertThatThrownBy(() -> shop.throwing(1)).isInstanceOf(LockTimeoutException.class);
            assertThat(shop.skipping(1)).isZero();
            assertThat(shop.skippingOptional(1)).isEmpty();
            assertThat(shop.returning(1)).isEqualTo("busy 1");
            assertThat(shop.skippingLater(1).get(30, TimeUnit.SECONDS)).isNull();
            assertThat(shop.returningReactive(1).block(DEADLINE)).isEqualTo("busy");
            assertThat(shop.calls()).isZero();
            assertThat(held.isValid()).isTrue();
          }
          assertThat(shop.returning(1)).isEqualTo("done");
          assertThat(shop.skippingLater(1).get(30, TimeUnit.SECONDS)).isEqualTo("done");
          assertThat(shop.returningReactive(1).block(DEADLINE)).isEqualTo("done");
        });
  }

  @Test
  void outageThatOutlastsTheWaitTime_alwaysThrows() {
    app.withPropertyValues("redlock.defaults.node-timeout=1s")
        .run(
            context -> {
              assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
              Shop shop = context.getBean(Shop.class);
              nodes.node(0).hang();
              nodes.node(1).hang();
              for (ThrowingCallable call :
                  List.<ThrowingCallable>of(
                      () -> shop.skippingSoon(1),
                      () -> shop.returningSoon(2).join(),
                      () -> shop.skippingReactive(3).blockLast(DEADLINE))) {
                assertThat(catchThrowable(call))
                    .isNotNull()
                    .extracting(e -> e instanceof CompletionException ? e.getCause() : e)
                    .isInstanceOfAny(LockTimeoutException.class, QuorumUnavailableException.class);
              }
              assertThat(shop.calls()).isZero();
            });
  }

  @Test
  void timeoutOfAnotherLock_insideOfTheMethod_isNotSkipped() {
    withShop(
        shop -> {
          try (Lease held = other.lock("order-1").acquire(DEADLINE)) {
            assertThatThrownBy(() -> shop.nested(other)).isInstanceOf(LockTimeoutException.class);
            assertThat(held.isValid()).isTrue();
          }
        });
  }

  @Test
  void lease_thatIsLostMeanwhile_isReported() {
    withShop(
        shop ->
            assertThatThrownBy(() -> shop.loses(other, null))
                .isInstanceOf(LeaseLostException.class));
  }

  @Test
  void futureOfTheMethod_keepsTheLockUntilItIsComplete() {
    withShop(
        shop -> {
          CompletableFuture<Void> go = new CompletableFuture<>();
          CompletableFuture<Boolean> shipped = shop.shipLater(3, go, null);
          await().atMost(DEADLINE).until(() -> nodes.isHeld("order-3"));
          assertThat(shipped).isNotDone();
          go.complete(null);
          assertThat(shipped.get(30, TimeUnit.SECONDS)).isTrue();
          nodes.awaitFree("order-3");
        });
  }

  @Test
  void futureThatIsCancelledOrFails_releases() {
    withShop(
        shop -> {
          CompletableFuture<Boolean> cancelled = shop.shipLater(3, new CompletableFuture<>(), null);
          await().atMost(DEADLINE).until(() -> nodes.isHeld("order-3"));
          cancelled.cancel(false);
          nodes.awaitFree("order-3");
          CompletableFuture<Boolean> failed =
              shop.shipLater(3, CompletableFuture.failedFuture(new IOException("go")), null);
          assertThatThrownBy(failed::join)
              .isInstanceOf(CompletionException.class)
              .hasRootCauseInstanceOf(IOException.class);
          nodes.awaitFree("order-3");
        });
  }

  @Test
  void publisherOfTheMethod_keepsTheLockForEachSubscription() {
    withShop(
        shop -> {
          Mono<Boolean> ship = shop.shipReactive(4, Mono.delay(Duration.ofMillis(20)), null);
          assertThat(nodes.holders("order-4")).isZero();
          assertThat(ship.block(DEADLINE)).isTrue();
          assertThat(ship.block(DEADLINE)).isTrue();
          assertThat(shop.shipMany(4).collectList().block(DEADLINE))
              .containsExactly(true, true, true);
          var waiting = shop.shipReactive(4, Mono.never(), null).subscribe();
          await().atMost(DEADLINE).until(() -> nodes.isHeld("order-4"));
          waiting.dispose();
          nodes.awaitFree("order-4");
        });
  }

  // What is rejected at start.

  @Configuration(proxyBeanMethods = false)
  static class EarlyBeans {
    /** Needs a locked bean while processors are being made. */
    @Bean
    static EarlyProcessor early(Shop shop) {
      return new EarlyProcessor();
    }
  }

  static class EarlyProcessor implements BeanPostProcessor, PriorityOrdered {
    @Override
    public int getOrder() {
      return 0;
    }
  }

  @Test
  void bean_thatWasMadeTooEarlyToBeLocked_stopsTheStart() {
    app.withUserConfiguration(EarlyBeans.class)
        .run(
            context -> assertThat(context).getFailure().hasMessageContaining("would take no lock"));
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync
  @EnableTransactionManagement
  static class Layers {
    @Bean
    PlatformTransactionManager transactions() {
      return new LockedTransactionsTest.NoTransactions();
    }
  }

  static class Layered {
    @Async
    @Locked("layered")
    @Transactional
    public CompletableFuture<Boolean> run(Lease lease) {
      return CompletableFuture.completedFuture(
          lease.isValid() && TransactionSynchronizationManager.isActualTransactionActive());
    }
  }

  @Test
  void lock_isOutsideOfTheTransactionAndInsideOfAsync() {
    app.withUserConfiguration(Layers.class)
        .withBean(Layered.class)
        .run(
            context -> {
              assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
              Layered layered = context.getBean(Layered.class);
              assertThat(((Advised) layered).getAdvisors())
                  .extracting(advisor -> advisor.getAdvice().getClass().getSimpleName())
                  .containsExactly(
                      "AnnotationAsyncExecutionInterceptor",
                      "LockedInterceptor",
                      "TransactionInterceptor");
              assertThat(layered.run(null).get(30, TimeUnit.SECONDS)).isTrue();
            });
  }

  @Test
  void annotations_ofInterfaces_areFound() {
    app.withBean(Impl.class)
        .run(
            context -> {
              assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
              assertThat(context.getBean(Api.class).names(Map.of("id", 5), null))
                  .containsExactly("api-5");
            });
  }

  interface Api {
    @Locked("api-#{#request['id']}")
    List<String> names(Map<String, Integer> request, Lease lease);
  }

  static class Impl implements Api {
    @Override
    public List<String> names(Map<String, Integer> request, Lease lease) {
      return lease.names();
    }
  }
}
