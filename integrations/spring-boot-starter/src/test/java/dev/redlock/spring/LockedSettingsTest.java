package dev.redlock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.spring.Locked.NotAcquired;
import dev.redlock.spring.boot.RedlockAutoConfiguration;
import dev.redlock.spring.boot.RedlockHealthAutoConfiguration;
import dev.redlock.spring.boot.RedlockIntegrationAutoConfiguration;
import dev.redlock.spring.boot.RedlockLockedAutoConfiguration;
import dev.redlock.spring.boot.RedlockShedLockAutoConfiguration;
import io.micrometer.context.ContextRegistry;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** Minimum holds, several clients, and the context of the caller (issue 37). */
@Timeout(60)
class LockedSettingsTest {
  private static final Duration DEADLINE = MemoryNodes.DEADLINE;

  private final MemoryNodes nodes = new MemoryNodes();
  private final Redlock other = nodes.client();
  private final ApplicationContextRunner plain =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  RedlockAutoConfiguration.class,
                  RedlockHealthAutoConfiguration.class,
                  RedlockIntegrationAutoConfiguration.class,
                  RedlockShedLockAutoConfiguration.class,
                  RedlockLockedAutoConfiguration.class))
          .withPropertyValues("redlock.restart-guard=off");
  private final ApplicationContextRunner app =
      plain.withBean(RedlockBuilderCustomizer.class, nodes::customizer);

  @AfterEach
  void disconnect() {
    other.close();
  }

  // Once per period.

  static class Job {
    private final AtomicInteger runs = new AtomicInteger();

    public int runs() {
      return runs.get();
    }

    @Locked(value = "job", waitTime = "0s", minimumHold = "25s", notAcquired = NotAcquired.SKIP)
    public void run() {
      runs.incrementAndGet();
    }

    @Locked(value = "later", waitTime = "0s", minimumHold = "25s", notAcquired = NotAcquired.SKIP)
    public CompletableFuture<Integer> later() {
      return CompletableFuture.completedFuture(runs.incrementAndGet());
    }
  }

  @Test
  void method_withAMinimumHold_runsOnceInAllProcesses() {
    app.withBean(Job.class)
        .withPropertyValues("redlock.defaults.lease-time=25s", "redlock.defaults.node-timeout=1s")
        .run(
            context -> {
              assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
              Job job = context.getBean(Job.class);
              job.run();
              job.run();
              assertThat(job.runs()).isOne();
              assertThat(job.later().get(30, TimeUnit.SECONDS)).isEqualTo(2);
              assertThat(job.later().get(30, TimeUnit.SECONDS)).isNull();
              LockOptions once = LockOptions.defaults();
              assertThat(other.lock("job", once).tryAcquire()).isEmpty();
              assertThat(other.lock("later", once).tryAcquire()).isEmpty();
              context.close();
              assertThat(nodes.isHeld("job")).isTrue();
            });
  }

  // Several clients.

  @Configuration(proxyBeanMethods = false)
  static class TwoClients {
    private static final MemoryNodes ORDERS = new MemoryNodes();
    private static final MemoryNodes BILLS = new MemoryNodes();

    @Bean
    Redlock orders() {
      return ORDERS.client("orders");
    }

    @Bean
    Redlock bills() {
      return BILLS.client("bills");
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class TwoClientsOnePrimary extends TwoClients {
    @Bean
    @Primary
    @Override
    Redlock orders() {
      return super.orders();
    }
  }

  static class Shop {
    @Locked(value = "order", client = "orders")
    public boolean order(Lease lease) {
      return TwoClients.ORDERS.isHeld("order") && !TwoClients.BILLS.isHeld("order");
    }

    @Locked(value = "bill", client = "bills")
    public boolean bill(Lease lease) {
      return TwoClients.BILLS.isHeld("bill") && !TwoClients.ORDERS.isHeld("bill");
    }
  }

  static class Unnamed {
    @Locked("order")
    public boolean order(Lease lease) {
      return TwoClients.ORDERS.isHeld("order");
    }
  }

  @Test
  void client_ofTheAnnotation_takesTheLock() {
    plain
        .withUserConfiguration(TwoClients.class)
        .withBean(Shop.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context.getBean(Shop.class).order(null)).isTrue();
              assertThat(context.getBean(Shop.class).bill(null)).isTrue();
            });
  }

  @Test
  void method_withoutAClient_amongSeveral_stopsTheStartAndNamesThem() {
    plain
        .withUserConfiguration(TwoClients.class)
        .withBean(Unnamed.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasMessageContaining("Unnamed.order: there are several clients")
                    .hasMessageContaining("orders")
                    .hasMessageContaining("bills")
                    .hasMessageContaining("@Locked(client"));
  }

  @Test
  void method_withoutAClient_isLockedByThePrimaryOne() {
    plain
        .withUserConfiguration(TwoClientsOnePrimary.class)
        .withBean(Unnamed.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context.getBean(Unnamed.class).order(null)).isTrue();
            });
  }

  // The context of the caller.

  static class Tenants {
    private static final ThreadLocal<String> TENANT = new ThreadLocal<>();

    @Locked("tenant")
    public CompletableFuture<String> later() {
      return CompletableFuture.completedFuture(TENANT.get());
    }
  }

  @Test
  void futureOfTheMethod_isMadeInTheContextOfTheCaller() {
    ContextRegistry.getInstance().registerThreadLocalAccessor("tenant", Tenants.TENANT);
    app.withBean(Tenants.class)
        .run(
            context -> {
              assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
              CompletableFuture<CompletableFuture<String>> made = new CompletableFuture<>();
              Thread caller =
                  new Thread(
                      () -> {
                        Tenants.TENANT.set("blue");
                        made.complete(context.getBean(Tenants.class).later());
                      },
                      "caller");
              caller.start();
              assertThat(made.get(30, TimeUnit.SECONDS).get(30, TimeUnit.SECONDS))
                  .isEqualTo("blue");
              caller.join();
            });
    ContextRegistry.getInstance().removeThreadLocalAccessor("tenant");
  }
}
