package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The roll-out of docs/migrating.md, from a lock of Redisson. Each version of the program is a
 * client of its own.
 */
class RollOutTest {
  private static final Duration WAIT = Duration.ofSeconds(10);

  private static RedisNodes nodes;
  private static Program left;
  private static Program right;

  @BeforeAll
  static void start() {
    nodes = RedisNodes.start(3);
    left = new Program(nodes);
    right = new Program(nodes);
  }

  @AfterAll
  static void stop() {
    left.close();
    right.close();
    nodes.close();
  }

  @Test
  void versions1And2_excludeEachOther() {
    assertThat(left.version1()).isTrue();
    assertThat(right.version2()).isFalse();
    left.release();

    assertThat(right.version2()).isTrue();
    assertThat(left.version1()).isFalse();
    right.release();
  }

  @Test
  void versions2And3_excludeEachOther() {
    assertThat(left.version2()).isTrue();
    assertThat(right.version3()).isFalse();
    left.release();

    assertThat(right.version3()).isTrue();
    assertThat(left.version2()).isFalse();
    right.release();
  }

  @Test
  void versions1And3_doNotExcludeEachOther() {
    assertThat(left.version1()).isTrue();
    assertThat(right.version3()).isTrue();
    left.release();
    right.release();
  }

  private static final class Program implements AutoCloseable {
    private final RedissonClient redisson;
    private final Redlock redlock;
    private final RLock old;
    private final DistributedLock lock;
    private Optional<Lease> lease = Optional.empty();

    Program(RedisNodes nodes) {
      Config config = new Config();
      config
          .useSingleServer()
          .setAddress(nodes.uris().get(0))
          .setConnectionMinimumIdleSize(1)
          .setConnectionPoolSize(2);
      redisson = Redisson.create(config);
      old = redisson.getLock("stock");
      redlock =
          Redlock.builder()
              .nodes(nodes.uris().toArray(String[]::new))
              .restartGuard(RestartGuard.OFF)
              .build();
      assertThat(redlock.awaitReady(WAIT)).isTrue();
      lock = redlock.lock("stock");
    }

    boolean version1() {
      return old.tryLock();
    }

    boolean version2() {
      if (!old.tryLock()) {
        return false;
      }
      if (!version3()) {
        old.unlock();
        return false;
      }
      return true;
    }

    boolean version3() {
      lease = lock.tryAcquire();
      return lease.isPresent();
    }

    void release() {
      lease.ifPresent(Lease::close);
      lease = Optional.empty();
      if (old.isHeldByCurrentThread()) {
        old.unlock();
      }
    }

    @Override
    public void close() {
      redlock.close();
      redisson.shutdown();
    }
  }
}
