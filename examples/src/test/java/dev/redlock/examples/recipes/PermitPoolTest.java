package dev.redlock.examples.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class PermitPoolTest {
  private static final Duration WAIT = Duration.ofSeconds(60);

  private static RedisNodes nodes;
  private static Redlock left;
  private static Redlock right;

  @BeforeAll
  static void start() {
    nodes = RedisNodes.start(3);
    left = Clients.connect(nodes.uris());
    right = Clients.connect(nodes.uris());
  }

  @AfterAll
  static void stop() {
    left.close();
    right.close();
    nodes.close();
  }

  @Test
  void acquire_byManyCallersOfTwoProcesses_admitsAsManyAsThereArePermits() throws Exception {
    AtomicInteger now = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    // The first three wait for each other. Otherwise they might not run at the same time on a busy
    // machine.
    CountDownLatch together = new CountDownLatch(3);
    List<Callable<Boolean>> callers = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      PermitPool pool = new PermitPool(i % 2 == 0 ? left : right, "many", 3);
      callers.add(
          () -> {
            try (Lease permit = pool.acquire(WAIT)) {
              most.accumulateAndGet(now.incrementAndGet(), Math::max);
              together.countDown();
              boolean met = together.await(WAIT.toSeconds(), TimeUnit.SECONDS);
              Thread.sleep(10);
              now.decrementAndGet();
              return met && permit.isValid();
            }
          });
    }

    assertThat(Recipes.inParallel(callers)).containsOnly(true);
    assertThat(most.get()).isEqualTo(3);
  }

  @Test
  void acquire_ofAFullPool_failsInTimeAndTakesWhatIsReleased() throws Exception {
    PermitPool pool = new PermitPool(left, "full", 2);
    Lease first = pool.acquire(WAIT);
    Lease second = pool.acquire(WAIT);

    assertThat(new PermitPool(right, "full", 2).tryAcquire()).isEmpty();
    assertThatThrownBy(() -> new PermitPool(right, "full", 2).acquire(Duration.ofMillis(50)))
        .isInstanceOf(LockTimeoutException.class);
    first.close();
    Lease third = new PermitPool(right, "full", 2).acquire(WAIT);
    assertThat(third.names()).isEqualTo(first.names());
    assertThat(second.isValid()).isTrue();
    second.close();
    third.close();
  }

  /**
   * Why there is no semaphore: each master counts two permits, and no master admits more. Each
   * holder reaches only two of three masters.
   */
  @Test
  void semaphoreByMajority_ofTwoPermitsOnThreeMasters_admitsThree() {
    int permits = 2;
    int holders = 0;
    for (int unreachable = 0; unreachable < nodes.size(); unreachable++) {
      int admitted = 0;
      for (RedisNode node : nodes) {
        if (node.index() != unreachable
            && ((Number) node.command("INCR", "semaphore")).intValue() <= permits) {
          admitted++;
        }
      }
      holders += admitted >= 2 ? 1 : 0;
    }

    assertThat(holders).as("holders of a semaphore of " + permits).isEqualTo(3);
  }
}
