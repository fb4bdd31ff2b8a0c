package dev.redlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.redlock.DistributedLock;
import dev.redlock.InvalidOptionException;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockException;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.micrometer.ObservedRedlock;
import dev.redlock.operations.NodeState;
import dev.redlock.shedlock.RedlockLockProvider;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spring.LockOptionsResolver;
import dev.redlock.spring.Locked;
import dev.redlock.spring.MemoryNodes;
import dev.redlock.spring.RedlockBuilderCustomizer;
import dev.redlock.spring.RedlockConnectionDetails;
import dev.redlock.spring.integration.RedlockLockRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;

@Timeout(60)
class RedlockAutoConfigurationTest {
  private final MemoryNodes nodes = new MemoryNodes();

  private final ApplicationContextRunner plain =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  SslAutoConfiguration.class,
                  RedlockAutoConfiguration.class,
                  RedlockEndpointAutoConfiguration.class,
                  RedlockHealthAutoConfiguration.class,
                  RedlockIntegrationAutoConfiguration.class,
                  RedlockLockedAutoConfiguration.class,
                  RedlockMetricsAutoConfiguration.class,
                  RedlockObservationAutoConfiguration.class,
                  RedlockShedLockAutoConfiguration.class));

  private final ApplicationContextRunner app =
      plain
          .withBean(RedlockBuilderCustomizer.class, nodes::customizer)
          .withPropertyValues("redlock.restart-guard=off");

  private static Redlock ready(AssertableApplicationContext context) {
    Redlock redlock = context.getBean(Redlock.class);
    assertThat(redlock.awaitReady(MemoryNodes.DEADLINE)).isTrue();
    return redlock;
  }

  @Test
  void client_withoutOtherBeans_locksAndIsClosedWithTheContext() {
    app.withPropertyValues("redlock.shutdown.grace-period=50ms")
        .run(
            context -> {
              Lease lease = ready(context).lock("name").acquire(MemoryNodes.DEADLINE);
              assertThat(lease.isValid()).isTrue();
              context.close();
              assertThat(lease.isValid()).isFalse();
              nodes.awaitFree("name");
            });
  }

  @Test
  void metrics_ofTheClient_areBoundToTheRegistryOfTheApplication() {
    app.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class))
        .withPropertyValues("redlock.label=orders/pod-3")
        .run(
            context -> {
              ready(context).lock("name").acquire(MemoryNodes.DEADLINE).close();
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              await()
                  .atMost(MemoryNodes.DEADLINE)
                  .untilAsserted(
                      () ->
                          assertThat(
                                  registry
                                      .find("redlock.acquire")
                                      .tag("outcome", "acquired")
                                      .timers())
                              .extracting(Timer::count)
                              .contains(1L));
            });
  }

  @Test
  void properties_ofTheClient_reachIt() {
    plain
        .withPropertyValues(
            "redlock.nodes=redis://127.0.0.1:1,redis://127.0.0.1:2,redis://127.0.0.1:3",
            "redlock.username=app",
            "redlock.password=secret",
            "redlock.connect-timeout=250ms",
            "redlock.max-lease-time=20s",
            "redlock.restart-guard=marker",
            "redlock.key-prefix=shop",
            "redlock.trace-leaks=true",
            "redlock.defaults.lease-time=8s",
            "redlock.defaults.node-timeout=60ms",
            "redlock.defaults.fair=true",
            "redlock.locks[0].pattern=order-*",
            "redlock.locks[0].lease-time=4s",
            "redlock.locks[1].pattern=*",
            "redlock.locks[1].hold-cap=5m")
        .run(
            context -> {
              Redlock redlock = context.getBean(Redlock.class);
              assertThat(redlock.operations().nodes())
                  .extracting(NodeState::node)
                  .containsExactly("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3");
              LockOptions defaults = redlock.defaultOptions();
              assertThat(defaults.leaseTime()).isEqualTo(Duration.ofSeconds(8));
              assertThat(defaults.nodeTimeout()).isEqualTo(Duration.ofMillis(60));
              assertThat(defaults.fair()).isTrue();
              LockOptionsResolver resolver = context.getBean(LockOptionsResolver.class);
              LockOptions order = resolver.options(List.of("order-1", "order-2"));
              assertThat(order.leaseTime()).isEqualTo(Duration.ofSeconds(4));
              assertThat(order.fair()).isTrue();
              assertThat(resolver.options(List.of("order-1", "x")).holdCap())
                  .isEqualTo(Duration.ofMinutes(5));
            });
  }

  @Test
  void pattern_ofNames_isAGlob() {
    app.withPropertyValues(
            "redlock.locks[0].pattern=order-?",
            "redlock.locks[0].lease-time=1s",
            "redlock.locks[1].pattern=a.*[b]",
            "redlock.locks[1].lease-time=2s",
            "redlock.locked.wait-time=0")
        .run(
            context -> {
              LockOptionsResolver resolver = context.getBean(LockOptionsResolver.class);
              assertThat(List.of("order-7", "order-?", "order-\n", "order-\ud83d\ude00"))
                  .allSatisfy(name -> assertThat(seconds(resolver, name)).isOne());
              assertThat(List.of("order-", "order-77", "Order-7"))
                  .allSatisfy(name -> assertThat(seconds(resolver, name)).isEqualTo(30));
              assertThat(seconds(resolver, "a.7[b]")).isEqualTo(2);
              assertThat(seconds(resolver, "ax7b")).isEqualTo(30);
            });
  }

  private static long seconds(LockOptionsResolver resolver, String name) {
    return resolver.options(List.of(name)).leaseTime().toSeconds();
  }

  static Stream<Arguments> badProperties() {
    return Stream.of(
        Arguments.of("redlock.restart-guard=off", "'redlock.nodes'", "", "redis://host:6379"),
        bad("redlock.nodes=redis://a:1,b|c", "redlock.nodes[1]", "***", "redis://host:port"),
        bad("redlock.nodes=redis://a:1,redis://a:1", "redlock.nodes", "a:1", "different server"),
        bad("redlock.nodes=redis://u:secret@a:x", "redlock.nodes[0]", "a:x", "redis://host:port"),
        bad("redlock.defaults.lease-time=2h", "redlock.defaults.lease-time", "2 h", "1 h"),
        bad("redlock.defaults.node-timeout=2s", "redlock.defaults.node-timeout", "2 s", "1 s"),
        bad(
            "redlock.defaults.lease-time=40s;redlock.max-lease-time=30s",
            "redlock.defaults.lease-time",
            "40 s",
            "30 s"),
        bad("redlock.max-lease-time=2h", "redlock.max-lease-time", "2 h", "1 h"),
        bad("redlock.max-lease-time=1ms", "redlock.max-lease-time", "1 ms", "10 ms"),
        bad("redlock.key-prefix={x}", "redlock.key-prefix", "{x}", "braces"),
        bad("redlock.label=" + "x".repeat(65), "redlock.label", "x", "64"),
        bad("redlock.connect-timeout=0s", "redlock.connect-timeout", "0 s", "positive"),
        bad(
            "redlock.nodes=rediss://a:1,redis://b:2;redlock.ssl.bundle=web"
                + ";spring.ssl.bundle.jks.web.reload-on-update=false",
            "redlock.nodes[1]",
            "redis://",
            "rediss://host:port"),
        bad("redlock.username=app", "redlock.username", "app", "redlock.password"),
        bad("redlock.ssl.bundle=none", "redlock.ssl.bundle", "none", "spring.ssl.bundle"),
        bad("redlock.locks[0].lease-time=1s", "redlock.locks[0].pattern", "is missing", "order-*"),
        bad("redlock.locks[0].pattern=  ", "redlock.locks[0].pattern", "is blank", "order-*"),
        bad("redlock.max-lease-time=30", "redlock.max-lease-time", "30", "30s or 30ms"),
        bad("redlock.connect-timeout=500", "redlock.connect-timeout", "500", "500ms"),
        bad(
            "redlock.defaults.node-timeout=100",
            "redlock.defaults.node-timeout",
            "100",
            "has no unit"),
        bad(
            "redlock.locks[0].pattern=a;redlock.locks[0].lease-time=9",
            "redlock.locks[0].lease-time",
            "9",
            "has no unit"),
        bad("redlock.locked.wait-time=5", "redlock.locked.wait-time", "5", "has no unit"),
        bad(
            "redlock.locks[0].pattern=a;redlock.locks[0].queue-bound=0",
            "redlock.locks[0].queue-bound",
            "0",
            "at least 1"),
        bad(
            "redlock.locks[0].pattern=a;redlock.locks[0].lease-time=31s",
            "redlock.locks[0].lease-time",
            "31 s",
            "30 s"));
  }

  private static Arguments bad(String properties, String key, String value, String allowed) {
    String nodes = properties.contains("redlock.nodes") ? "" : ";redlock.nodes=redis://127.0.0.1:1";
    return Arguments.of(properties + nodes, "'" + key + "'", value, allowed);
  }

  @ParameterizedTest
  @MethodSource("badProperties")
  void property_withABadValue_stopsTheStartAndNamesKeyValueAndWhatIsAllowed(
      String properties, String key, String value, String allowed) {
    plain
        .withPropertyValues(properties.split(";"))
        .run(
            context -> {
              assertThat(context).hasFailed();
              FailureAnalysis analysis =
                  new InvalidRedlockPropertyFailureAnalyzer().analyze(context.getStartupFailure());
              assertThat(analysis).isNotNull();
              assertThat(analysis.getDescription())
                  .contains(key, value, allowed)
                  .doesNotContain("secret");
              assertThat(analysis.getAction()).contains(key);
            });
  }

  @Test
  void optionThatTheCodeOfTheApplicationSets_isNotReportedAsAProperty() {
    Throwable failure = new InvalidOptionException("leaseTime", "2 h", "leaseTime 2 h is too long");
    assertThat(new InvalidRedlockPropertyFailureAnalyzer().analyze(failure)).isNull();
  }

  @Test
  void property_thatIsUnknown_stopsTheStartAndIsNamed() {
    app.withPropertyValues("redlock.leese-time=1s")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("redlock.leese-time"));
  }

  /** Spring would convert a text to a group that has a public constructor with one String. */
  @ParameterizedTest
  @ValueSource(strings = {"redlock.registry", "redlock.ssl"})
  void group_thatIsAText_stopsTheStartAndIsNamed(String group) {
    app.withPropertyValues(group + "=x")
        .run(context -> assertThat(context).getFailure().hasStackTraceContaining(group));
  }

  @Test
  void disabled_leavesNoBean() {
    app.withPropertyValues("redlock.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(Redlock.class)
                    .doesNotHaveBean(HealthIndicator.class)
                    .doesNotHaveBean(RedlockEndpoint.class));
  }

  static class Shop {
    @Locked("stock")
    public void sell() {}
  }

  @Test
  void disabled_withALockedMethod_stopsTheStartBecauseItWouldRunWithoutItsLock() {
    app.withBean(Shop.class)
        .withPropertyValues("redlock.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasMessageContaining("Shop.sell")
                    .hasMessageContaining("redlock.enabled"));
  }

  @Test
  void lockedMethod_ofAChildContext_isLockedByTheClientOfItsParent() {
    app.run(
        parent -> {
          ready(parent);
          new ApplicationContextRunner()
              .withParent(parent)
              .withConfiguration(
                  AutoConfigurations.of(
                      RedlockAutoConfiguration.class, RedlockLockedAutoConfiguration.class))
              .withBean(Shop.class)
              .run(
                  child -> {
                    assertThat(child.getBean(Redlock.class))
                        .isSameAs(parent.getBean(Redlock.class));
                    assertThat(AopUtils.isAopProxy(child.getBean(Shop.class))).isTrue();
                  });
        });
  }

  @Test
  void client_ofTheApplication_replacesTheConfiguredOne() {
    Redlock own =
        Redlock.builder()
            .nodes(InMemoryLockNode.create("own"))
            .restartGuard(RestartGuard.OFF)
            .build();
    plain
        .withBean(Redlock.class, () -> own)
        .run(
            context -> {
              assertThat(context).hasNotFailed().getBean(Redlock.class).isSameAs(own);
              assertThat(context)
                  .hasSingleBean(HealthIndicator.class)
                  .hasSingleBean(RedlockLockRegistry.class)
                  .hasSingleBean(RedlockLockProvider.class)
                  .hasSingleBean(RedlockLifecycle.class);
            });
  }

  @Test
  void connectionDetails_ofSeveralContainers_arePutTogether() {
    plain
        .withBean("one", RedlockConnectionDetails.class, () -> () -> List.of("redis://127.0.0.1:1"))
        .withBean("two", RedlockConnectionDetails.class, () -> () -> List.of("redis://127.0.0.1:2"))
        .run(
            context ->
                assertThat(context.getBean(Redlock.class).operations().nodes())
                    .extracting(NodeState::node)
                    .containsExactlyInAnyOrder("127.0.0.1:1", "127.0.0.1:2"));
  }

  @Test
  void health_followsTheNodes() {
    app.run(
        context -> {
          ready(context);
          HealthIndicator health = context.getBean(HealthIndicator.class);
          awaitStatus(health, Status.UP);
          nodes.node(0).kill();
          awaitStatus(health, RedlockHealthIndicator.DEGRADED);
          nodes.node(1).kill();
          awaitStatus(health, Status.DOWN);
          Health down = health.health();
          assertThat(down.getDetails()).containsEntry("voting", 1L).containsEntry("quorum", 2);
          assertThat(((Map<?, ?>) down.getDetails().get("nodes")).keySet().toString())
              .isEqualTo("[a, b, c]");
        });
  }

  private static void awaitStatus(HealthIndicator health, Status status) {
    await()
        .atMost(MemoryNodes.DEADLINE)
        .untilAsserted(() -> assertThat(health.health().getStatus()).isEqualTo(status));
  }

  @Test
  void health_thatIsSwitchedOff_isNotThere() {
    app.withPropertyValues("management.health.redlock.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
  }

  @Test
  void endpoint_isThereWhenExposed() {
    app.run(context -> assertThat(context).doesNotHaveBean(RedlockEndpoint.class));
    app.withPropertyValues("management.endpoints.web.exposure.include=redlock")
        .run(context -> assertThat(context).hasSingleBean(RedlockEndpoint.class));
  }

  @Test
  void endpoint_thatDoesNotBreak_saysWhichPropertyAllowsIt() {
    app.withPropertyValues("management.endpoints.web.exposure.include=redlock")
        .run(
            context -> {
              try (Lease held = ready(context).lock("a/b").acquire(MemoryNodes.DEADLINE)) {
                WebEndpointResponse<?> refused =
                    (WebEndpointResponse<?>)
                        context.getBean(RedlockEndpoint.class).breakLock("a", "b");
                assertThat(refused.getStatus()).isEqualTo(403);
                assertThat(refused.getBody().toString())
                    .contains("a/b", "redlock.endpoint.break-enabled");
                assertThat(held.isValid()).isTrue();
              }
            });
  }

  @Test
  void endpoint_withAPattern_listsTheLocksOfAllClientsUpToTheLimit() {
    app.withPropertyValues("management.endpoints.web.exposure.include=redlock")
        .run(
            context -> {
              ready(context);
              RedlockEndpoint endpoint = context.getBean(RedlockEndpoint.class);
              Redlock other = nodes.client("other/pod-1");
              try {
                List<Lease> leases = new ArrayList<>();
                for (int i = 0; i < 5; i++) {
                  leases.add(other.lock("order-" + i).acquire(MemoryNodes.DEADLINE));
                }
                other.lock("stock").acquire(MemoryNodes.DEADLINE);
                Map<String, Object> all = endpoint.list("order-*", null);
                assertThat(all).containsEntry("complete", true).doesNotContainKey("error");
                assertThat((List<?>) all.get("locks")).hasSize(5);
                assertThat(all.toString())
                    .contains("name=order-4", "label=other/pod-1", "storedBy=3")
                    .doesNotContain("stock");
                assertThat(leases)
                    .allSatisfy(
                        lease ->
                            assertThat(all.toString())
                                .doesNotContain(nodes.secret(lease.names().get(0))));
                Map<String, Object> some = endpoint.list("order-*", 2);
                assertThat(some).containsEntry("complete", false);
                assertThat((List<?>) some.get("locks")).hasSize(2);
                assertThat(endpoint.list("nothing", 1))
                    .containsEntry("complete", true)
                    .containsEntry("locks", List.of());
                assertThatThrownBy(() -> endpoint.list("*", 0))
                    .isInstanceOf(InvalidEndpointRequestException.class)
                    .hasMessageContaining("limit 0")
                    .hasMessageContaining("1000");
                nodes.node(0).kill();
                nodes.node(1).kill();
                assertThat(endpoint.list("order-*", null))
                    .containsEntry("complete", false)
                    .containsKey("error");
              } finally {
                other.close();
              }
            });
  }

  @Test
  void endpoint_withANameThatNoLockMayHave_isABadRequest() {
    app.withPropertyValues("management.endpoints.web.exposure.include=redlock")
        .run(
            context -> {
              ready(context);
              RedlockEndpoint endpoint = context.getBean(RedlockEndpoint.class);
              assertThat(endpoint.inspect("orders", "42")).containsEntry("name", "orders/42");
              assertThatThrownBy(() -> endpoint.inspect("x".repeat(5000)))
                  .isInstanceOf(InvalidEndpointRequestException.class)
                  .hasMessageContaining("5000");
            });
  }

  @Test
  void heldLeases_afterDroppedEvents_leaveOutWhatHasEnded() {
    app.withPropertyValues("management.endpoints.web.exposure.include=redlock")
        .run(
            context -> {
              Redlock redlock = ready(context);
              HeldLeases held = new HeldLeases();
              Lease over = redlock.lock("over").acquire(MemoryNodes.DEADLINE);
              Lease lasting = redlock.lock("lasting").acquire(MemoryNodes.DEADLINE);
              held.onAcquired(over, Duration.ZERO);
              held.onAcquired(lasting, Duration.ZERO);
              over.close(); // onEnded is among the events that were dropped.
              held.onDropped(1);
              assertThat(held.list())
                  .extracting(HeldLeases.HeldLease::names)
                  .containsExactly(lasting.names());
              lasting.close();
              assertThat(held.list()).isEmpty();
            });
  }

  @Test
  void observations_ofCallsOfTheClientAndOfLockedMethods_goToTheRegistryOfTheApplication() {
    TestObservationRegistry registry = TestObservationRegistry.create();
    ApplicationContextRunner observed =
        app.withBean(ObservationRegistry.class, () -> registry).withBean(Shop.class);
    observed.run(
        context -> {
          ready(context).lock("name").acquire(MemoryNodes.DEADLINE).close();
          context.getBean(Shop.class).sell();
          TestObservationRegistryAssert.assertThat(registry)
              .hasNumberOfObservationsWithNameEqualTo("redlock.lock", 2)
              .hasAnObservationWithAKeyValue("redlock.operation", "acquire")
              .hasAnObservationWithAKeyValue("redlock.operation", "with_lock");
        });
    registry.clear();
    observed
        .withPropertyValues("redlock.observation.enabled=false")
        .run(
            context -> {
              ready(context).lock("name").acquire(MemoryNodes.DEADLINE).close();
              TestObservationRegistryAssert.assertThat(registry).doesNotHaveAnyObservation();
            });
  }

  @Test
  void observations_withoutARegistry_leaveTheClientAsItIs() {
    app.run(context -> assertThat(ready(context)).isNotInstanceOf(ObservedRedlock.class));
  }

  @Test
  void health_ofAClosedClient_isDown() {
    app.run(
        context -> {
          Redlock redlock = ready(context);
          HealthIndicator health = context.getBean(HealthIndicator.class);
          redlock.close();
          awaitStatus(health, Status.DOWN);
        });
  }

  @Test
  void beans_ofEachPhase_getLocksWhileTheyStop() {
    List<String> locked = new CopyOnWriteArrayList<>();
    app.withBean("poller", Stopping.class, () -> new Stopping(Integer.MAX_VALUE / 2, locked))
        .withBean("last", Stopping.class, () -> new Stopping(Integer.MIN_VALUE, locked))
        .run(
            context -> {
              Redlock redlock = ready(context);
              context.getBeansOfType(Stopping.class).values().forEach(one -> one.redlock = redlock);
            });
    assertThat(locked).containsExactly("locked", "locked");
  }

  /** Takes a lock while it stops, as the last message of a poller does. */
  private static final class Stopping implements SmartLifecycle {
    private final int phase;
    private final List<String> results;
    private Redlock redlock;
    private boolean running;

    Stopping(int phase, List<String> results) {
      this.phase = phase;
      this.results = results;
    }

    @Override
    public void start() {
      running = true;
    }

    @Override
    public void stop() {
      running = false;
      try {
        redlock.lock("last").acquire(MemoryNodes.DEADLINE).close();
        results.add("locked");
      } catch (RedlockException e) {
        results.add(e.getClass().getSimpleName());
      }
    }

    @Override
    public boolean isRunning() {
      return running;
    }

    @Override
    public int getPhase() {
      return phase;
    }
  }

  @Test
  void endpoint_listsHeldLeasesInspectsAndBreaks() {
    app.withPropertyValues(
            "management.endpoints.web.exposure.include=redlock",
            "redlock.endpoint.break-enabled=true")
        .run(
            context -> {
              DistributedLock lock = ready(context).lock("stock");
              Lease lease = lock.acquire(MemoryNodes.DEADLINE);
              RedlockEndpoint endpoint = context.getBean(RedlockEndpoint.class);
              await()
                  .atMost(MemoryNodes.DEADLINE)
                  .untilAsserted(
                      () ->
                          assertThat(endpoint.list(null, null).get("held").toString())
                              .contains("stock", lease.fencingToken().toString())
                              .doesNotContain(nodes.secret("stock")));
              assertThat(endpoint.inspect("stock").toString())
                  .contains("holder=")
                  .doesNotContain(nodes.secret("stock"));
              endpoint.breakLock("stock");
              nodes.awaitFree("stock");
              await()
                  .atMost(MemoryNodes.DEADLINE)
                  .untilAsserted(
                      () -> assertThat(endpoint.list(null, null).get("held")).hasToString("[]"));
            });
  }
}
