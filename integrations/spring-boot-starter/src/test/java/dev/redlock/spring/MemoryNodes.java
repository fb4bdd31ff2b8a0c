package dev.redlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spring.boot.RedlockAutoConfiguration;
import dev.redlock.spring.boot.RedlockLockedAutoConfiguration;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Three masters in this process, for the application under test and for another client. */
public final class MemoryNodes {
  public static final Duration DEADLINE = Duration.ofSeconds(30);

  private final List<InMemoryLockNode> nodes =
      List.of(
          InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c"));

  /** Adds these masters to the client of an application; {@code redlock.nodes} stays empty. */
  public RedlockBuilderCustomizer customizer() {
    return this::addTo;
  }

  /** An application with {@code @Locked} methods whose client uses these masters. */
  public ApplicationContextRunner app() {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                RedlockAutoConfiguration.class, RedlockLockedAutoConfiguration.class))
        .withBean(RedlockBuilderCustomizer.class, this::customizer)
        .withPropertyValues("redlock.restart-guard=off", "redlock.defaults.node-timeout=1s");
  }

  private void addTo(RedlockBuilder builder) {
    nodes.forEach(node -> builder.nodes(node.another()));
  }

  /** Another process. */
  public Redlock client() {
    return client("");
  }

  /** Another process with this label. */
  public Redlock client(String label) {
    RedlockBuilder builder = Redlock.builder().restartGuard(RestartGuard.OFF).label(label);
    addTo(builder);
    Redlock redlock = builder.build();
    assertThat(redlock.awaitReady(DEADLINE)).isTrue();
    return redlock;
  }

  public InMemoryLockNode node(int index) {
    return nodes.get(index);
  }

  /** How many masters store the lock. */
  public long holders(String name) {
    return nodes.stream().filter(node -> node.holder(name) != null).count();
  }

  /** The lease id that a node stores. */
  public String secret(String name) {
    return nodes.stream()
        .map(node -> node.holder(name))
        .filter(Objects::nonNull)
        .findFirst()
        .orElseThrow();
  }

  public boolean isHeld(String name) {
    return holders(name) >= 2;
  }

  public void awaitFree(String name) {
    await().atMost(DEADLINE).until(() -> holders(name), count -> count == 0);
  }
}
