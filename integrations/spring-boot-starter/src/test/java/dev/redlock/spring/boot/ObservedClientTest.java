package dev.redlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.election.LeaderElection;
import dev.redlock.micrometer.ObservedRedlock;
import dev.redlock.reactor.ReactorLock;
import dev.redlock.spring.MemoryNodes;
import dev.redlock.spring.RedlockBuilderCustomizer;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.integration.support.locks.LockRegistry;

/** All that an application may build on its client, on a client that Micrometer observes. */
class ObservedClientTest {
  private static final long DEADLINE_MILLIS = MemoryNodes.DEADLINE.toMillis();

  private final MemoryNodes nodes = new MemoryNodes();
  private final ApplicationContextRunner app =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  RedlockAutoConfiguration.class,
                  RedlockIntegrationAutoConfiguration.class,
                  RedlockObservationAutoConfiguration.class,
                  RedlockShedLockAutoConfiguration.class))
          .withBean(ObservationRegistry.class, TestObservationRegistry::create)
          .withBean(RedlockBuilderCustomizer.class, nodes::customizer)
          .withPropertyValues("redlock.restart-guard=off");

  private static final class Work implements LeaderElection.Work {
    private final CompletableFuture<Lease> started = new CompletableFuture<>();

    @Override
    public CompletionStage<?> startWork(Lease lease) {
      started.complete(lease);
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
      return CompletableFuture.completedFuture(null);
    }
  }

  @Test
  void election_onAnObservedClient_works() {
    app.run(
        context -> {
          Redlock redlock = context.getBean(Redlock.class);
          assertThat(redlock).isInstanceOf(ObservedRedlock.class);
          Work work = new Work();
          try (LeaderElection election = LeaderElection.builder(redlock, "lead", work).build()) {
            election.start();
            Lease lease = work.started.get(DEADLINE_MILLIS, TimeUnit.MILLISECONDS);
            assertThat(lease.isValid()).isTrue();
          }
          nodes.awaitFree("lead");
        });
  }

  @Test
  void label_ofAnApplicationWithoutOne_isItsNameHostAndProcess() {
    app.withPropertyValues("spring.application.name=orders")
        .run(
            context -> {
              Redlock redlock = context.getBean(Redlock.class);
              assertThat(redlock.awaitReady(MemoryNodes.DEADLINE)).isTrue();
              try (Lease lease = redlock.lock("name").acquire(MemoryNodes.DEADLINE)) {
                assertThat(
                        redlock.operations().inspect("name").toCompletableFuture().join().nodes())
                    .allSatisfy(
                        node ->
                            assertThat(node.holderLabel())
                                .startsWith("orders@")
                                .endsWith("" + ProcessHandle.current().pid()));
                assertThat(lease.isValid()).isTrue();
              }
            });
  }

  @Test
  void locksOfOtherLibraries_onAnObservedClient_work() {
    app.run(
        context -> {
          Redlock redlock = context.getBean(Redlock.class);
          assertThat(redlock.awaitReady(MemoryNodes.DEADLINE)).isTrue();

          Lock lock = context.getBean(LockRegistry.class).obtain("registry");
          assertThat(lock.tryLock()).isTrue();
          lock.unlock();

          Duration most = Duration.ofSeconds(20);
          var task = new LockConfiguration(Instant.now(), "task", most, Duration.ZERO);
          context.getBean(LockProvider.class).lock(task).orElseThrow().unlock();

          try (Lease lease =
              ReactorLock.of(redlock.lock("reactor"))
                  .acquire(MemoryNodes.DEADLINE)
                  .block(MemoryNodes.DEADLINE)) {
            assertThat(lease.isValid()).isTrue();
          }
        });
  }
}
