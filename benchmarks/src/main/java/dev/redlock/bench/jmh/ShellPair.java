package dev.redlock.bench.jmh;

import dev.redlock.DistributedLock;
import dev.redlock.Redlock;
import dev.redlock.spi.LockNode;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Acquire and release through the whole library but the wire: queue, protocol, timers, lease object
 * and clean-up. With {@code -prof gc}: the allocation that is not Lettuce's.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class ShellPair {
  private final Redlock redlock =
      Redlock.builder()
          .nodes(
              IntStream.range(0, 5)
                  .mapToObj(i -> new InstantNode("node" + i))
                  .toArray(LockNode[]::new))
          .build();
  private final DistributedLock[] locks = new DistributedLock[64];
  private int turn;

  /** Names are used in turn, as in the scenario {@code uncontended}. */
  @Setup
  public void setUp() {
    for (int i = 0; i < locks.length; i++) {
      locks[i] = redlock.lock("name-" + i);
    }
  }

  /** Ends the client's threads. */
  @TearDown
  public void tearDown() {
    redlock.close();
  }

  /** A thread that acquires and releases. */
  @Benchmark
  public long blocking() {
    try (var lease = locks[turn++ & 63].acquire(Duration.ofSeconds(1))) {
      return lease.fencingToken().value();
    }
  }
}
