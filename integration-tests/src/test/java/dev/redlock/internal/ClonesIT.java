package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.BuiltParts;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.internal.protocol.Randomness;
import dev.redlock.it.Clients;
import dev.redlock.spi.Time;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Two clients that are copies of one memory image: their generators draw the same, and always in
 * the same nanosecond. Only their connections differ.
 */
@RedisTest(nodes = 3)
class ClonesIT {
  private static final int NAMES = 20;
  private static final Duration WAIT = Duration.ofSeconds(10);
  private static final long SEED = 7;

  private final RedisNodes nodes;

  ClonesIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Test
  void copies_thatAcquireOneName_neverHoldItTogether() throws Exception {
    try (Redlock original = clone(true);
        Redlock copy = clone(true)) {
      assertNeverTogether(original, copy);
    }
  }

  private static void assertNeverTogether(Redlock original, Redlock copy) throws Exception {
    for (int i = 0; i < NAMES; i++) {
      try (Lease first = original.lock("job" + i).acquire(WAIT)) {
        Optional<Lease> second = copy.lock("job" + i).tryAcquire();
        assertThat(second).as("lease of the copy on job%d", i).isEmpty();
        assertThat(first.isValid()).isTrue();
      }
      try (Lease second = copy.lock("job" + i).acquire(WAIT)) {
        assertThat(original.lock("job" + i).tryAcquire()).isEmpty();
        assertThat(second.isValid()).isTrue();
      }
    }
  }

  /** The control: without the connection part the nodes take both clients for one. */
  @Test
  void copies_whoseIdsIgnoreTheirConnections_holdOneNameTogether() throws Exception {
    try (Redlock original = clone(false);
        Redlock copy = clone(false);
        Lease first = original.lock("both").acquire(WAIT)) {
      Optional<Lease> second = copy.lock("both").tryAcquire();
      assertThat(second).isPresent();
      assertThat(first.isValid() && second.get().isValid()).isTrue();
      second.get().close();
    }
  }

  /** Copies have the same name in the queue. This costs order, but no caller is lost. */
  @Test
  void copies_thatContend_areServedOneAfterAnother() throws Exception {
    AtomicInteger holders = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (Redlock original = clone(true);
        Redlock copy = clone(true)) {
      List<Future<?>> works = new ArrayList<>();
      for (Redlock each : List.of(original, copy)) {
        works.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 50; i++) {
                    try (Lease lease = each.lock("contended").acquire(WAIT)) {
                      most.accumulateAndGet(holders.incrementAndGet(), Math::max);
                      lease.ensureValid();
                      holders.decrementAndGet();
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> work : works) {
        work.get(60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(most).as("holders at once").hasValue(1);
  }

  /**
   * @param bound whether its lease ids depend on its connections
   */
  private Redlock clone(boolean bound) {
    return clone(Clients.on(nodes), bound);
  }

  private Redlock clone(RedlockBuilder builder, boolean bound) {
    Assembly.Parts parts = BuiltParts.of(builder.nodeTimeout(Clients.PATIENCE));
    return Clients.voting(Assembly.start(parts, new Image(bound)), nodes.size());
  }

  /** Each client that uses it draws the same. */
  private static final class Image extends Platform {
    private final boolean bound;

    Image(boolean bound) {
      this.bound = bound;
    }

    @Override
    Randomness randomness(String suffix, Time clock) {
      SecureRandomness ids = new SecureRandomness(suffix, new Repeated(), () -> 42);
      return bound ? ids : new Unbound(ids);
    }
  }

  /** Lease ids as they were before they had a connection part. */
  private record Unbound(Randomness ids) implements Randomness {
    @Override
    public double next() {
      return ids.next();
    }

    @Override
    public String leaseId() {
      return ids.leaseId();
    }
  }

  @SuppressWarnings("serial")
  private static final class Repeated extends SecureRandom {
    private final transient Random source = new Random(SEED);

    @Override
    public void nextBytes(byte[] bytes) {
      source.nextBytes(bytes);
    }
  }
}
