package dev.redlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import jakarta.validation.ConstraintViolation;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.Validator;
import jakarta.validation.executable.ExecutableValidator;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.validation.annotation.Validated;
import org.springframework.validation.beanvalidation.MethodValidationPostProcessor;

/** Other advice of a {@code @Locked} method: what rejects a call does so before the lock. */
@Timeout(60)
class LockedOrderTest {
  private static final Duration DEADLINE = MemoryNodes.DEADLINE;

  private final MemoryNodes nodes = new MemoryNodes();
  private final Redlock other = nodes.client();
  private final ApplicationContextRunner app = nodes.app();

  @AfterEach
  void disconnect() {
    other.close();
  }

  // Validation and security.

  @Validated
  static class Shop {
    @Locked(value = "order", waitTime = "1h")
    public void ship(String id) {
      throw new AssertionError("not valid, and not permitted");
    }
  }

  /** Rejects all arguments. */
  private static Validator strict() {
    InvocationHandler rejects =
        (proxy, method, arguments) ->
            Set.of(fake(ConstraintViolation.class, (violation, getter, none) -> null));
    ExecutableValidator methods = fake(ExecutableValidator.class, rejects);
    return fake(Validator.class, (proxy, method, arguments) -> methods);
  }

  private static <T> T fake(Class<T> type, InvocationHandler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                method.getName().equals("hashCode")
                    ? (Object) 1
                    : handler.invoke(proxy, method, arguments)));
  }

  @Configuration(proxyBeanMethods = false)
  static class Validation {
    @Bean
    static MethodValidationPostProcessor validation() {
      MethodValidationPostProcessor processor = new MethodValidationPostProcessor();
      processor.setValidator(strict());
      processor.setProxyTargetClass(true);
      return processor;
    }
  }

  private void requireRejectedBeforeTheLock(Class<?> configuration, Class<? extends Throwable> by) {
    app.withUserConfiguration(configuration)
        .withBean(Shop.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              try (Lease held = other.lock("order").acquire(DEADLINE)) {
                assertThatThrownBy(() -> context.getBean(Shop.class).ship("7")).isInstanceOf(by);
                assertThat(held.isValid()).isTrue();
              }
            });
  }

  @Test
  void argumentsThatAreNotValid_areRejectedBeforeTheLock() {
    requireRejectedBeforeTheLock(Validation.class, ConstraintViolationException.class);
  }

  /** Its advice has an order, as that of Spring Security. */
  @Configuration(proxyBeanMethods = false)
  static class Security {
    @Bean
    static DefaultAdvisorAutoProxyCreator proxies() {
      DefaultAdvisorAutoProxyCreator proxies = new DefaultAdvisorAutoProxyCreator();
      proxies.setProxyTargetClass(true);
      proxies.setOrder(Ordered.HIGHEST_PRECEDENCE); // As the one of Spring Boot.
      return proxies;
    }

    @Bean
    static Advisor denies() {
      MethodInterceptor denies =
          call -> {
            throw new SecurityException(call.getMethod().getName());
          };
      DefaultPointcutAdvisor advisor =
          new DefaultPointcutAdvisor(
              AnnotationMatchingPointcut.forMethodAnnotation(Locked.class), denies);
      advisor.setOrder(200);
      return advisor;
    }
  }

  @Test
  void callThatIsNotPermitted_isRejectedBeforeTheLock() {
    requireRejectedBeforeTheLock(Security.class, SecurityException.class);
  }

  // Caches.

  @Configuration(proxyBeanMethods = false)
  @EnableCaching
  static class Caches {
    @Bean
    CacheManager caches() {
      return new ConcurrentMapCacheManager();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableCaching(order = 5)
  static class OuterCaches {
    @Bean
    CacheManager caches() {
      return new Caches().caches();
    }
  }

  static class Prices {
    private final AtomicInteger reads = new AtomicInteger();

    public int reads() {
      return reads.get();
    }

    @Cacheable(cacheNames = "prices", key = "#id")
    @Locked(value = "price-#{#id}", waitTime = "0s")
    public int read(String id, Lease lease) {
      return reads.incrementAndGet();
    }
  }

  static class PricesWithoutKey {
    @Cacheable("prices")
    @Locked("price-#{#id}")
    public int read(String id, Lease lease) {
      return 1;
    }
  }

  @Test
  void cache_ofAMethodWithALeaseParameter_findsWhatItStored() {
    app.withUserConfiguration(Caches.class)
        .withBean(Prices.class)
        .run(
            context -> {
              assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
              Prices prices = context.getBean(Prices.class);
              prices.read("7", null);
              prices.read("7", null);
              assertThat(prices.reads()).isOne();
            });
  }

  @Test
  void cache_withoutAKey_stopsTheStartBecauseTheLeaseIsAParameter() {
    app.withBean(PricesWithoutKey.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasStackTraceContaining("PricesWithoutKey.read")
                    .hasStackTraceContaining("cache key"));
  }

  @Test
  void cache_withALowerOrder_answersWithoutTheLock() {
    app.withUserConfiguration(OuterCaches.class)
        .withBean(Prices.class)
        .run(
            context -> {
              assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
              Prices prices = context.getBean(Prices.class);
              prices.read("7", null);
              nodes.awaitFree("price-7");
              try (Lease held = other.lock("price-7").acquire(DEADLINE)) {
                assertThat(prices.read("7", null)).isOne();
                assertThat(held.isValid()).isTrue();
              }
            });
  }

  @Test
  void order_ofTheLock_isAProperty() {
    app.withPropertyValues("redlock.locked.order=" + (Ordered.HIGHEST_PRECEDENCE + 1))
        .withUserConfiguration(OuterCaches.class)
        .withBean(Prices.class)
        .run(
            context -> {
              assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
              Prices prices = context.getBean(Prices.class);
              prices.read("7", null);
              nodes.awaitFree("price-7");
              try (Lease held = other.lock("price-7").acquire(DEADLINE)) {
                assertThatThrownBy(() -> prices.read("7", null))
                    .isInstanceOf(LockTimeoutException.class);
                assertThat(held.isValid()).isTrue();
              }
            });
  }
}
