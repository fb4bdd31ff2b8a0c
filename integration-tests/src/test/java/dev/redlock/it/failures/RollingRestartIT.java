package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.Redlock;
import dev.redlock.RedlockException;
import dev.redlock.RedlockListener;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** All masters are restarted, empty, one after another, as for an upgrade. */
@RedisTest(nodes = 5)
@Tag("thorough")
class RollingRestartIT {
  private static final Settings SETTINGS = new Settings(Duration.ofSeconds(3), true, false);

  /** The reply of a quarantined node to an extension counts after 3 s of connection. */
  private static final Duration PACE = Duration.ofMillis(3500);

  @Test
  void lease_throughFiveRestartsWithAContender_neitherEndsNorIsShared(RedisNodes nodes)
      throws Exception {
    List<LeaseEnd> ends = new CopyOnWriteArrayList<>();
    AtomicInteger tries = new AtomicInteger();
    List<String> shared = new CopyOnWriteArrayList<>();
    AtomicBoolean over = new AtomicBoolean();
    RedlockListener none = new RedlockListener() {};
    try (Redlock holder = SETTINGS.client(nodes.uris(), none);
        Redlock trying = SETTINGS.client(nodes.uris(), none);
        Redlock contender = SETTINGS.client(nodes.uris(), none)) {
      Eventually.holds(
          () -> Clients.votes(holder) == 5 && Clients.votes(contender) == 5,
          Duration.ofSeconds(30),
          nodes);
      Lease lease = holder.lock("rolling").acquire(Duration.ofSeconds(5));
      lease.whenEnded().thenAccept(ends::add);
      List<Thread> threads = new ArrayList<>();
      threads.add(
          new Thread(() -> contend(contender, Duration.ofMillis(700), tries, shared, over)));
      threads.add(new Thread(() -> contend(trying, Duration.ZERO, tries, shared, over)));
      threads.forEach(Thread::start);
      for (RedisNode node : nodes) {
        long restarted = System.nanoTime();
        node.restart();
        Eventually.holds(
            () -> {
              lease.ensureValid();
              return Clients.holdsKey(node, "rolling")
                  && System.nanoTime() - restarted > PACE.toNanos();
            },
            Duration.ofSeconds(20),
            nodes);
      }
      assertThat(ends).as("ends").isEmpty();
      assertThat(lease.isValid()).isTrue();
      over.set(true);
      for (Thread thread : threads) {
        thread.join(10_000);
      }
      assertThat(shared).as("granted to the contender meanwhile").isEmpty();
      System.out.printf(
          "rolling restart: 5 restarts, 0 ends, 0 overlaps, %d tries of the contenders%n",
          tries.get());
      assertThat(tries.get()).isGreaterThan(20);
      lease.close();
      // Afterwards the lock must be acquirable.
      Eventually.holds(() -> Clients.votes(contender) >= 3, Duration.ofSeconds(20), nodes);
      contender.lock("rolling").acquire(Duration.ofSeconds(10)).close();
    } finally {
      over.set(true);
    }
  }

  private static void contend(
      Redlock redlock,
      Duration wait,
      AtomicInteger tries,
      List<String> shared,
      AtomicBoolean over) {
    while (!over.get()) {
      tries.incrementAndGet();
      try (Lease lease = redlock.lock("rolling").acquire(wait)) {
        if (!over.get()) {
          shared.add(lease.toString());
        }
      } catch (RedlockException e) {
        // Held, or too few nodes out of quarantine: both are correct.
      }
      LockSupport.parkNanos(5_000_000);
    }
  }
}
