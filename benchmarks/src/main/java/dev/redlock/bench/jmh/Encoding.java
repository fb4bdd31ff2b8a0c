package dev.redlock.bench.jmh;

import dev.redlock.lettuce.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Encodes requests, which happens once per round for all nodes. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class Encoding {
  private static final String ID = "AbCdEfGhIjKlMnOpQrStUvWxYz0";
  private final LockKeys keys = LockKeys.of("redlock", List.of("orders:42"));
  private long token = 1_764_000_000_000_000L;

  /** Encodes an acquire. */
  @Benchmark
  public byte[] acquire() {
    return EncodedRequest.of(LockRequest.Acquire.of(keys, ID, token++, 30_000), 120_000).evalSha();
  }

  /** Encodes a release. */
  @Benchmark
  public byte[] release() {
    return EncodedRequest.of(LockRequest.Release.of(keys, ID, token++), 120_000).evalSha();
  }
}
