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
 * One acquire and one release through the whole library without the network: queue, protocol,
 * timers, lease object and cleanup. With {@code -prof gc} it shows the allocation without that of
 * Lettuce.
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

  /** Uses names in turn, as in the scenario {@code uncontended}. */
  @Setup
  public void setUp() {
    for (int i = 0; i < locks.length; i++) {
      locks[i] = redlock.lock("name-" + i);
    }
  }

  /** Stops the threads of the client. */
  @TearDown
  public void tearDown() {
    redlock.close();
  }

  /** One blocking acquire and release. */
  @Benchmark
  public long blocking() {
    try (var lease = locks[turn++ & 63].acquire(Duration.ofSeconds(1))) {
      return lease.fencingToken().value();
    }
  }
}
