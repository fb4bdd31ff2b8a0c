package dev.redlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.spring.Locked;
import dev.redlock.spring.MemoryNodes;
import dev.redlock.spring.RedlockBuilderCustomizer;
import io.lettuce.core.LettuceVersion;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A web application with nothing but the starter, web server and Actuator. */
@Timeout(90)
class ShutdownTest {
  private static final MemoryNodes NODES = new MemoryNodes();
  private static final CountDownLatch SELLING = new CountDownLatch(1);
  private static final CountDownLatch BOTH_ARRIVED = new CountDownLatch(2);
  private static final CountDownLatch GO = new CountDownLatch(1);

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class App {
    @Bean
    RedlockBuilderCustomizer nodes() {
      return NODES.customizer();
    }

    @Bean
    Counter counter() {
      return new Counter();
    }

    @Bean
    Shop shop(Counter counter) {
      return new Shop(counter);
    }
  }

  @RestController
  static class Shop {
    private final Counter counter;

    Shop(Counter counter) {
      this.counter = counter;
    }

    @GetMapping("/sell/{item}")
    public String sell(@PathVariable("item") String item) throws Exception {
      BOTH_ARRIVED.countDown();
      return counter.sell(item, null);
    }
  }

  static class Counter {
    @Locked("stock-#{#item}")
    public String sell(String item, Lease lease) throws Exception {
      SELLING.countDown();
      assertThat(GO.await(60, TimeUnit.SECONDS)).isTrue();
      return "sold " + lease.names();
    }
  }

  /** Each lane must test the versions that its name says. */
  @Test
  void versions_areThoseOfTheLane() {
    System.out.printf(
        "[redlock-spring] Boot %s, Spring %s, Lettuce %s%n",
        SpringBootVersion.getVersion(),
        org.springframework.core.SpringVersion.getVersion(),
        LettuceVersion.getVersion());
    assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("lane.boot"));
    String lettuce = System.getProperty("lane.lettuce").replace(".RELEASE", "");
    assertThat(LettuceVersion.getVersion()).startsWith(lettuce);
  }

  @Test
  void shutdown_whileALockIsHeldAndARequestWaits_servesBothAndLeavesTheLockFree() throws Exception {
    SpringApplication application = new SpringApplication(App.class);
    application.setRegisterShutdownHook(false);
    ConfigurableApplicationContext context =
        application.run(
            "--server.port=0",
            "--spring.main.banner-mode=off",
            "--logging.level.root=warn",
            "--redlock.restart-guard=off",
            "--redlock.shutdown.grace-period=100ms",
            "--management.endpoint.health.show-details=always",
            "--management.endpoints.web.exposure.include=health,redlock");
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    root.addAppender(log);
    try {
      Redlock redlock = context.getBean(Redlock.class);
      assertThat(redlock.awaitReady(MemoryNodes.DEADLINE)).isTrue();
      String port = context.getEnvironment().getProperty("local.server.port");
      Lease held = redlock.lock("background").acquire(MemoryNodes.DEADLINE);
      assertThat(get(port, "/actuator/health").join())
          .as("health with Boot %s", SpringBootVersion.getVersion())
          .contains("\"redlock\"", "\"UP\"", "VOTING");
      await()
          .atMost(MemoryNodes.DEADLINE)
          .untilAsserted(
              () -> assertThat(get(port, "/actuator/redlock").join()).contains("\"background\""));
      assertThat(get(port, "/actuator/redlock/background").join()).contains("\"holder\"");
      assertThat(get(port, "/actuator/redlock?pattern=back*&limit=5").join())
          .contains("\"name\":\"background\"", "\"complete\":true");
      assertThat(get(port, "/actuator/redlock?pattern=*&limit=0").join()).contains("400");
      assertThat(get(port, "/actuator/redlock/orders/42").join()).contains("\"orders/42\"");

      CompletableFuture<String> first = get(port, "/sell/coupon");
      assertThat(SELLING.await(60, TimeUnit.SECONDS)).isTrue();
      CompletableFuture<String> waiting = get(port, "/sell/coupon");
      assertThat(BOTH_ARRIVED.await(60, TimeUnit.SECONDS)).isTrue();
      CompletableFuture<Void> closed = CompletableFuture.runAsync(context::close);
      await().atMost(MemoryNodes.DEADLINE).until(context::isClosed);
      assertThat(held.isValid()).as("held while requests are served").isTrue();
      GO.countDown();

      assertThat(first.join()).isEqualTo("sold [stock-coupon]");
      assertThat(waiting.join()).isEqualTo("sold [stock-coupon]");
      closed.get(60, TimeUnit.SECONDS);
      assertThat(held.isValid()).isFalse();
      assertThat(NODES.holders("background")).isZero();
      assertThat(NODES.holders("stock-coupon")).isZero();
      assertThat(log.list)
          .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.ERROR))
          .isEmpty();
    } finally {
      GO.countDown();
      root.detachAppender(log);
      context.close();
    }
  }

  private static CompletableFuture<String> get(String port, String path) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(60))
            .build();
    return HttpClient.newHttpClient()
        .sendAsync(request, HttpResponse.BodyHandlers.ofString())
        .thenApply(HttpResponse::body);
  }
}
