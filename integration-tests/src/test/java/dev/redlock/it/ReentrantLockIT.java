package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.LeaseLostException;
import dev.redlock.Redlock;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The lock that a thread owns. */
@RedisTest(nodes = 3)
class ReentrantLockIT {
  private final RedisNodes nodes;
  private Redlock redlock;
  private ReentrantDistributedLock lock;

  ReentrantLockIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @BeforeEach
  void connect() {
    redlock = Clients.patient(nodes);
    lock = redlock.reentrantLock("thread");
  }

  @AfterEach
  void disconnect() {
    redlock.close();
  }

  @Test
  void lock_enteredAgain_costsNoCommandAndIsFreedByTheLastUnlock() {
    lock.lock();
    Eventually.holds(() -> nodes.stream().allMatch(n -> Clients.holdsKey(n, "thread")), nodes);
    long before = Commands.on(nodes);
    lock.lock();
    assertThat(redlock.reentrantLock("thread").tryLock()).isTrue();
    assertThat(Commands.on(nodes)).isEqualTo(before);
    assertThat(lock.holdCount()).isEqualTo(3);
    lock.unlock();
    lock.unlock();
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    lock.unlock();
    assertThat(lock.isHeldByCurrentThread()).isFalse();
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, "thread"), nodes);
    }
  }

  @Test
  void tryLock_heldByAnotherThread_isRefused() throws Exception {
    lock.lock();
    assertThat(CompletableFuture.supplyAsync(() -> lock.tryLock()).get(5, TimeUnit.SECONDS))
        .isFalse();
    assertThat(
            CompletableFuture.supplyAsync(
                    () -> {
                      try {
                        return lock.tryLock(50, TimeUnit.MILLISECONDS);
                      } catch (InterruptedException e) {
                        throw new AssertionError(e);
                      }
                    })
                .get(5, TimeUnit.SECONDS))
        .isFalse();
    lock.unlock();
  }

  @Test
  void unlock_byAnotherThread_isAClearError() throws Exception {
    lock.lock();
    CompletableFuture<Void> stranger = CompletableFuture.runAsync(() -> lock.unlock());
    assertThatThrownBy(() -> stranger.get(5, TimeUnit.SECONDS))
        .hasCauseInstanceOf(IllegalMonitorStateException.class);
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    lock.unlock();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void unlock_afterLoss_reportsTheLoss() {
    lock.lock();
    for (RedisNode node : nodes) {
      node.command("SET", Clients.lockKey("thread"), "another", "PX", "30000");
    }
    Eventually.holds(() -> !lock.isHeldByCurrentThread(), nodes);
    assertThatThrownBy(lock::lock).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    for (RedisNode node : nodes) {
      node.command("DEL", Clients.lockKey("thread"));
    }
    lock.lock();
    lock.unlock();
  }

  @Test
  void lockInterruptibly_interrupted_givesUpAndLeavesNothing() throws Exception {
    lock.lock();
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    Thread waiter =
        new Thread(
            () -> {
              try {
                lock.lockInterruptibly();
                interrupted.complete(false);
              } catch (InterruptedException e) {
                interrupted.complete(true);
              }
            });
    waiter.start();
    Eventually.holds(() -> waiter.getState() == Thread.State.WAITING, nodes);
    waiter.interrupt();
    assertThat(interrupted.get(5, TimeUnit.SECONDS)).isTrue();
    lock.unlock();
    assertThat(lock.tryLock()).isTrue();
    lock.unlock();
  }

  @Test
  void owner_diedHoldingIt_isReleased() throws Exception {
    Thread owner = new Thread(() -> lock.lock(), "dying-owner");
    owner.start();
    owner.join();
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, "thread"), nodes);
    }
    assertThat(lock.tryLock()).isTrue();
    lock.unlock();
  }

  @Test
  void newCondition_isUnsupportedWithAReason() {
    assertThatThrownBy(lock::newCondition)
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("condition");
  }
}
