package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.AcquireReport.Vote;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What {@link java.util.concurrent.locks.Lock} promises of interrupts and of timed attempts. */
@Timeout(60)
class ReentrantLockTest {
  private final Redlock redlock =
      client(InMemoryLockNode.create("a"), InMemoryLockNode.create("b"));
  private final ReentrantDistributedLock lock = redlock.reentrantLock("thread");

  private static Redlock client(InMemoryLockNode... nodes) {
    return Redlock.builder().nodes(nodes).restartGuard(RestartGuard.OFF).build();
  }

  @AfterEach
  void close() {
    redlock.close();
  }

  @Test
  void tryLock_timedAndFree_entersAndAgain() throws Exception {
    assertThat(lock.tryLock(20, TimeUnit.SECONDS)).isTrue();
    assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isTrue();
    assertThat(lock.holdCount()).isEqualTo(2);
    lock.unlock();
    lock.unlock();
    assertThat(lock.holdCount()).isZero();
  }

  @Test
  void tryLock_timedAndFreedInTime_enters() throws Exception {
    lock.lock();
    CompletableFuture<Boolean> other =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                boolean entered = lock.tryLock(20, TimeUnit.SECONDS);
                lock.unlock();
                return entered;
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    assertThat(other).isNotDone();
    lock.unlock();
    assertThat(other.get(30, TimeUnit.SECONDS)).isTrue();
  }

  /** Only the first node replies in time: no round is complete. */
  @Test
  void tryLock_forLessThanARoundOfALockThatIsHeld_isFalse() throws Exception {
    InMemoryLockNode[] nodes = {
      InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
    };
    try (Redlock holder = client(nodes);
        Redlock other = client(nodes[0].another(), nodes[1].another(), nodes[2].another())) {
      holder.reentrantLock("held").lock();
      nodes[1].delay(Duration.ofMillis(50));
      nodes[2].delay(Duration.ofMillis(50));
      ReentrantDistributedLock held = other.reentrantLock("held");
      List<CompletableFuture<?>> callers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        callers.add(CompletableFuture.runAsync(() -> refusedEachTime(held, 75)));
      }
      for (CompletableFuture<?> caller : callers) {
        caller.get(30, TimeUnit.SECONDS);
      }
      holder.reentrantLock("held").unlock();
    }
  }

  private static void refusedEachTime(ReentrantDistributedLock held, int times) {
    int refused = 0;
    for (int i = 0; i < times; i++) {
      try {
        assertThat(held.tryLock(3, TimeUnit.MILLISECONDS)).isFalse();
        refused++;
      } catch (LockTimeoutException e) { // The machine was too busy for any reply.
        assertThat(e.report().count(Vote.HELD)).as(e.getMessage()).isZero();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    assertThat(refused).isPositive();
  }

  @Test
  void lockInterruptibly_interruptedBefore_refusesAlsoToEnterAgain() throws Exception {
    lock.lockInterruptibly();
    Thread.currentThread().interrupt();
    assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    assertThat(lock.holdCount()).isEqualTo(1);
    lock.unlock();
  }

  @Test
  void lock_interruptedBefore_entersAndKeepsTheFlag() {
    Thread.currentThread().interrupt();
    lock.lock();
    assertThat(Thread.interrupted()).isTrue();
    Thread.currentThread().interrupt();
    lock.lock();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(lock.holdCount()).isEqualTo(2);
    lock.unlock();
    lock.unlock();
  }

  @Test
  void reentrantLock_withOptions_usesThemAndSharesTheCountOfItsName() {
    Duration leaseTime = Duration.ofSeconds(5);
    ReentrantDistributedLock own =
        redlock.reentrantLock("thread", LockOptions.builder().leaseTime(leaseTime).build());
    own.lock();
    assertThat(own.lease().orElseThrow().remainingValidity()).isLessThan(leaseTime);
    lock.lock();
    assertThat(own.holdCount()).isEqualTo(2);
    own.unlock();
    lock.unlock();
    assertThat(own.isHeldByCurrentThread()).isFalse();
  }
}
