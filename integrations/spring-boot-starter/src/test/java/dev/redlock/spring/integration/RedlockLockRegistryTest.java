package dev.redlock.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.redlock.LeaseLostException;
import dev.redlock.Redlock;
import dev.redlock.spring.MemoryNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.aggregator.AggregatingMessageHandler;
import org.springframework.integration.aggregator.DefaultAggregatingMessageGroupProcessor;
import org.springframework.integration.aggregator.SimpleSequenceSizeReleaseStrategy;
import org.springframework.integration.channel.QueueChannel;
import org.springframework.integration.config.EnableIntegration;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.store.SimpleMessageStore;
import org.springframework.integration.support.MessageBuilder;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.messaging.Message;

@Timeout(90)
class RedlockLockRegistryTest {
  private static final String PREFIX = "integration:";
  private static final Duration DEADLINE = MemoryNodes.DEADLINE;

  private final MemoryNodes nodes = new MemoryNodes();
  private final Redlock client = nodes.client();
  private final Redlock otherClient = nodes.client();
  private final RedlockLockRegistry registry = registry(client);
  private final RedlockLockRegistry other = registry(otherClient);

  private static RedlockLockRegistry registry(Redlock redlock) {
    return new RedlockLockRegistry(redlock, PREFIX, names -> redlock.defaultOptions());
  }

  @AfterEach
  void disconnect() {
    client.close();
    otherClient.close();
  }

  @Test
  void lock_isReentrantAndExcludesOtherThreadsAndProcesses() throws Exception {
    DistributedLock lock = registry.obtain("key");
    lock.lock();
    registry.obtain("key").lock(); // Another object of the same key.
    assertThat(other.obtain("key").tryLock()).isFalse();
    assertThat(CompletableFuture.supplyAsync(registry.obtain("key")::tryLock).get()).isFalse();
    lock.unlock();
    assertThat(other.obtain("key").tryLock()).isFalse();
    lock.unlock();
    assertThat(other.obtain("key").tryLock(20, TimeUnit.SECONDS)).isTrue();
    other.obtain("key").unlock();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void obtain_ofAKeyWithoutATextOfItsOwn_isRejected() {
    assertThatThrownBy(() -> registry.obtain(new Object()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("java.lang.Object@");
    assertThatThrownBy(() -> registry.obtain(new byte[1]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(registry.obtain(7L).toString()).contains(PREFIX + "7");
  }

  @Test
  void executeLocked_holdsTheLockAndTimesOut() throws Exception {
    String inside =
        registry.executeLocked("key", () -> nodes.isHeld(PREFIX + "key") ? "held" : "free");
    assertThat(inside).isEqualTo("held");
    nodes.awaitFree(PREFIX + "key");
    other.obtain("key").lock();
    assertThatThrownBy(
            () -> registry.executeLocked("key", Duration.ofMillis(20), () -> "not reached"))
        .isInstanceOf(TimeoutException.class);
    other.obtain("key").unlock();
  }

  @Test
  void lock_withATimeToLive_expiresUnlessRenewed() throws Exception {
    Duration ttl = Duration.ofSeconds(1);
    DistributedLock lock = registry.obtain("key");
    assertThat(lock.tryLock(Duration.ofSeconds(20), ttl)).isTrue();
    registry.renewLock("key");
    registry.renewLock("key", ttl);
    assertThatThrownBy(() -> registry.renewLock("key", Duration.ofSeconds(5)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("time to live of 1 s and");
    assertThat(other.obtain("key").tryLock()).isFalse();
    nodes.awaitFree(PREFIX + "key");
    assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void renewLock_withoutALock_isRejected() {
    assertThatThrownBy(() -> registry.renewLock("key"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("key");
    registry.obtain("key").lock();
    registry.renewLock("key", Duration.ofHours(1)); // Extended automatically.
    registry.obtain("key").unlock();
    registry.expireUnusedOlderThan(0);
  }

  @Test
  void aggregators_ofTwoProcessesWithOneStore_releaseEachGroupOnce() throws Exception {
    SimpleMessageStore store = new SimpleMessageStore();
    QueueChannel output = new QueueChannel();
    AnnotationConfigApplicationContext context =
        new AnnotationConfigApplicationContext(Integration.class);
    List<AggregatingMessageHandler> handlers =
        List.of(
            aggregator(registry, store, output, context),
            aggregator(other, store, output, context));
    ExecutorService threads = Executors.newFixedThreadPool(4);
    int groups = 20;
    try {
      List<Future<?>> sent = new ArrayList<>();
      for (int i = 0; i < groups * 4; i++) {
        int n = i;
        sent.add(threads.submit(() -> handlers.get(n % 2).handleMessage(part(n / 4, n % 4))));
      }
      for (Future<?> one : sent) {
        one.get(60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
      context.close();
    }
    List<Message<?>> released = output.clear();
    assertThat(released).hasSize(groups);
    assertThat(released).allSatisfy(m -> assertThat((List<?>) m.getPayload()).hasSize(4));
  }

  @Configuration(proxyBeanMethods = false)
  @EnableIntegration
  static class Integration {}

  private static AggregatingMessageHandler aggregator(
      RedlockLockRegistry locks, SimpleMessageStore store, QueueChannel output, BeanFactory beans) {
    AggregatingMessageHandler handler =
        new AggregatingMessageHandler(new DefaultAggregatingMessageGroupProcessor(), store);
    handler.setReleaseStrategy(new SimpleSequenceSizeReleaseStrategy());
    handler.setLockRegistry(locks);
    handler.setExpireGroupsUponCompletion(true);
    handler.setOutputChannel(output);
    handler.setBeanFactory(beans);
    handler.afterPropertiesSet();
    return handler;
  }

  private static Message<String> part(int group, int index) {
    return MessageBuilder.withPayload("part " + index)
        .setCorrelationId("group-" + group)
        .setSequenceNumber(index + 1)
        .setSequenceSize(4)
        .build();
  }

  @Test
  void leaderInitiators_ofTwoProcesses_haveOneLeaderThatChangesOnLossAndStop() throws Exception {
    Recording first = new Recording("first");
    Recording second = new Recording("second");
    LockRegistryLeaderInitiator one = initiator(registry, first);
    LockRegistryLeaderInitiator two = initiator(other, second);
    try {
      one.start();
      await().atMost(DEADLINE).until(() -> first.leads);
      two.start();
      otherClient
          .operations()
          .breakLock(PREFIX + "role")
          .toCompletableFuture()
          .get(30, TimeUnit.SECONDS);
      await().atMost(DEADLINE).until(() -> first.revoked > 0);
      await().atMost(DEADLINE).until(() -> first.leads ^ second.leads);
      Recording leader = first.leads ? first : second;
      (leader == first ? one : two).stop();
      Recording standby = leader == first ? second : first;
      await().atMost(DEADLINE).until(() -> standby.leads && !leader.leads);
    } finally {
      one.destroy();
      two.destroy();
    }
    nodes.awaitFree(PREFIX + "role");
  }

  private static LockRegistryLeaderInitiator initiator(
      RedlockLockRegistry locks, Candidate candidate) {
    LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(locks, candidate);
    initiator.setHeartBeatMillis(50);
    initiator.setBusyWaitMillis(50);
    return initiator;
  }

  private static final class Recording implements Candidate {
    private final String id;
    private volatile boolean leads;
    private volatile int revoked;

    Recording(String id) {
      this.id = id;
    }

    @Override
    public String getRole() {
      return "role";
    }

    @Override
    public String getId() {
      return id;
    }

    @Override
    public void onGranted(Context context) {
      leads = true;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // Only the thread of the initiator writes.
    public void onRevoked(Context context) {
      leads = false;
      revoked++;
    }
  }
}
