package dev.redlock.examples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class FleetMemberTest {
  private static final int PARTITIONS = 3;
  private static final LockOptions OPTIONS =
      LockOptions.builder().leaseTime(Duration.ofSeconds(5)).build();

  private final Map<Integer, String> workers = new ConcurrentHashMap<>();
  private final Map<Integer, Long> tokens = new ConcurrentHashMap<>();
  private final Set<Integer> busy = ConcurrentHashMap.newKeySet();
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
  private RedisNodes nodes;
  private Redlock left;
  private Redlock right;

  @BeforeEach
  void start() {
    nodes = RedisNodes.start(3);
    left = Clients.connect(nodes.uris());
    right = Clients.connect(nodes.uris());
  }

  @AfterEach
  void stop() {
    left.close();
    right.close();
    nodes.close();
  }

  @Test
  void close_ofAMember_handsAllPartitionsOverWithHigherTokensAndNeverTwoAtOnce() throws Exception {
    FleetMember first = member(left, 0, "first");
    try (FleetMember second = member(right, 1, "second")) {
      until(() -> workers.size() == PARTITIONS);
      first.close();
      until(() -> Set.copyOf(workers.values()).equals(Set.of("second")));
      assertThat(second.held()).isEqualTo(PARTITIONS);
    } finally {
      first.close();
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void step_thatFails_letsAnotherMemberTakeOver() throws Exception {
    AtomicBoolean broken = new AtomicBoolean();
    FleetMember.Step step = step("first");
    try (FleetMember first =
        new FleetMember(
            left,
            OPTIONS,
            0,
            PARTITIONS,
            (partition, lease) -> {
              if (broken.get()) {
                throw new IllegalStateException("on purpose");
              }
              step.run(partition, lease);
            })) {
      until(() -> first.held() == PARTITIONS && workers.size() == PARTITIONS);
      try (FleetMember second = member(right, 1, "second")) {
        broken.set(true);
        until(() -> Set.copyOf(workers.values()).equals(Set.of("second")));
      }
    }
    assertThat(wrong).isEmpty();
  }

  private FleetMember member(Redlock redlock, int number, String name) {
    return new FleetMember(redlock, OPTIONS, number, PARTITIONS, step(name));
  }

  /** Records which member works, and whether two members work at the same time or a token falls. */
  private FleetMember.Step step(String name) {
    return (partition, lease) -> {
      if (!busy.add(partition)) {
        wrong.add("two members work on partition " + partition);
      }
      try {
        long token = lease.fencingToken().value();
        Long before = tokens.put(partition, token);
        if (before != null && before > token) {
          wrong.add("partition " + partition + ": " + token + " after " + before);
        }
        workers.put(partition, name);
        Thread.sleep(2);
      } finally {
        busy.remove(partition);
      }
    };
  }

  private void until(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as(() -> "workers " + workers).isNegative();
      Thread.sleep(5);
    }
  }
}
