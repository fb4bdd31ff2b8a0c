package dev.redlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.operations.NodeState;
import dev.redlock.spring.MemoryNodes;
import dev.redlock.spring.RedlockConnectionDetails;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisSource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.TestContextManager;
import org.testcontainers.containers.GenericContainer;

/** {@code @ServiceConnection(name = "redlock")} on several containers. */
@Timeout(90)
class ContainersTest {
  private static RedisNodes masters;

  @BeforeAll
  static void start() {
    masters = RedisNodes.start(3);
  }

  @AfterAll
  static void stop() {
    masters.close();
  }

  /** Stands in for a container: a master that is a process. Counts as a container for Spring. */
  static class StandIn extends GenericContainer<StandIn> {
    private final RedisNode master;
    private int starts;

    StandIn(int index) {
      super("redis:8");
      master = masters.get(index);
      withExposedPorts(6379);
    }

    /** Spring asks for it; Testcontainers would pull the image. */
    @Override
    public String getDockerImageName() {
      return "redis:8";
    }

    @Override
    public void start() {
      starts++;
    }

    @Override
    public void stop() {}

    @Override
    public boolean isRunning() {
      return starts > 0;
    }

    @Override
    public String getHost() {
      return "127.0.0.1";
    }

    @Override
    public Integer getMappedPort(int originalPort) {
      assertThat(originalPort).isEqualTo(6379);
      assertThat(starts).as("starts of %s", master).isPositive();
      return master.port();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Beans {
    @Bean
    @ServiceConnection(name = "redlock")
    StandIn first() {
      return new StandIn(0);
    }

    @Bean
    @ServiceConnection(name = "redlock")
    StandIn second() {
      return new StandIn(1);
    }

    @Bean
    @ServiceConnection(name = "redlock")
    StandIn third() {
      return new StandIn(2);
    }

    /** Of another service, such as a cache; no lock master. */
    @Bean
    StandIn cache() {
      return new StandIn(0);
    }
  }

  private final ApplicationContextRunner app =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  ServiceConnectionAutoConfiguration.class, RedlockAutoConfiguration.class));

  private static void requireLocks(ApplicationContext context) {
    Redlock redlock = context.getBean(Redlock.class);
    assertThat(redlock.operations().nodes())
        .extracting(NodeState::node)
        .containsExactlyInAnyOrderElementsOf(
            masters.stream().map(master -> "127.0.0.1:" + master.port()).toList());
    // Without redlock.restart-guard: new masters of a test vote at once.
    assertThat(redlock.awaitReady(MemoryNodes.DEADLINE)).as(masters.describe()).isTrue();
    try (Lease lease = redlock.lock("name").acquire(MemoryNodes.DEADLINE)) {
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void containers_thatAreBeans_areTheMastersTogether() {
    app.withUserConfiguration(Beans.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context).hasSingleBean(RedlockConnectionDetails.class);
              requireLocks(context);
            });
  }

  @Test
  void connectionDetails_ofTheApplication_replaceThoseOfContainers() {
    app.withUserConfiguration(Beans.class)
        .withBean(RedlockConnectionDetails.class, () -> () -> List.of("redis://127.0.0.1:1"))
        .run(
            context ->
                assertThat(context.getBean(Redlock.class).operations().nodes())
                    .extracting(NodeState::node)
                    .contains("127.0.0.1:1"));
  }

  @SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE)
  static class InFields {
    @ServiceConnection(name = "redlock")
    static StandIn first = new StandIn(0);

    @ServiceConnection(name = "redlock")
    static StandIn second = new StandIn(1);

    @ServiceConnection(name = "redlock")
    static StandIn third = new StandIn(2);

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}
  }

  @Tag("thorough")
  @Test
  void containers_inFieldsOfATestClass_areTheMastersTogetherAlsoForASecondContext()
      throws Exception {
    TestContextManager test = new TestContextManager(InFields.class);
    for (int i = 0; i < 2; i++) {
      requireLocks(test.getTestContext().getApplicationContext());
      test.getTestContext().markApplicationContextDirty(null);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class RealContainers {
    @Bean
    @ServiceConnection(name = "redlock")
    GenericContainer<?> first() {
      return container();
    }

    @Bean
    @ServiceConnection(name = "redlock")
    GenericContainer<?> second() {
      return container();
    }

    @Bean
    @ServiceConnection(name = "redlock")
    GenericContainer<?> third() {
      return container();
    }

    private static GenericContainer<?> container() {
      return new GenericContainer<>(image)
          .withCommand("--protected-mode", "no", "--save", "")
          .withExposedPorts(6379);
    }
  }

  /** Built by the test kit, because no image can be pulled everywhere. */
  private static String image;

  @Test
  void containers_ofAnEngine_areStartedAndAreTheMasters() {
    Optional<String> whyNot = RedisSource.DOCKER.whyUnavailable();
    if (whyNot.isPresent()) {
      System.out.println("[redlock-spring] no test on containers: " + whyNot.get());
      Assumptions.abort(whyNot.get());
    }
    try (RedisNodes one = RedisNodes.builder().count(1).source(RedisSource.DOCKER).start()) {
      image = one.source().replaceAll(".*(redlock-testkit-redis:[^ )]+).*", "$1");
    }
    app.withUserConfiguration(RealContainers.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              Redlock redlock = context.getBean(Redlock.class);
              assertThat(redlock.operations().nodes()).hasSize(3);
              assertThat(redlock.awaitReady(MemoryNodes.DEADLINE)).isTrue();
              assertThat(redlock.lock("name").acquire(MemoryNodes.DEADLINE).isValid()).isTrue();
            });
  }
}
