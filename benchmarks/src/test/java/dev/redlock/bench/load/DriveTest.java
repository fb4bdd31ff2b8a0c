package dev.redlock.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.bench.load.Load.Mode;
import dev.redlock.bench.system.Held;
import dev.redlock.bench.system.LockClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DriveTest {
  /** Grants every other time. */
  private static final class Fickle implements LockClient, Held {
    private final AtomicInteger asked = new AtomicInteger();

    @Override
    public Held acquire(String name) {
      return Optional.of(this).filter(me -> asked.getAndIncrement() % 2 == 0).orElseThrow();
    }

    @Override
    public void release() {}

    @Override
    public CompletionStage<?> releaseAsync() {
      return CompletableFuture.completedFuture("released");
    }

    @Override
    public boolean isAsync() {
      return true;
    }

    @Override
    public CompletionStage<Held> acquireAsync(String name) {
      return CompletableFuture.completedFuture(name).thenApply(this::acquire);
    }

    @Override
    public void close() {}
  }

  @ParameterizedTest
  @EnumSource(names = {"THREADS", "ASYNC"})
  void attemptsThatFail_endTheLoadButAreNoPairs(Mode mode) throws Exception {
    Fickle client = new Fickle();

    Slice slice = Drive.run(client, Load.spread(mode, 1, Duration.ofMinutes(1)).atMost(10));

    assertThat(client.asked).hasValue(10);
    assertThat(slice.pairs()).isEqualTo(5);
    assertThat(slice.failures()).isEqualTo(5);
  }
}
