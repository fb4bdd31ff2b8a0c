package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.LeaseLostException;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The lock that a thread owns. */
@RedisTest(nodes = 3)
class ReentrantLockIT extends OneClient {
  private ReentrantDistributedLock lock;

  ReentrantLockIT(RedisNodes nodes) {
    super(nodes, Clients::patient);
  }

  @BeforeEach
  void makeLock() {
    lock = redlock.reentrantLock("thread");
  }

  @Test
  void lock_enteredAgain_costsNoCommandAndIsFreedByTheLastUnlock() {
    lock.lock();
    Clients.everywhere(nodes, "thread");
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
    Clients.gone(nodes, "thread");
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
  void newCondition_isUnsupportedWithAReason() {
    assertThatThrownBy(lock::newCondition)
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("condition");
  }
}
