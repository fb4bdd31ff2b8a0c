package dev.redlock.bench.system;

import dev.redlock.spi.RestartGuard;
import dev.redlock.vertx.RedlockOptions;
import dev.redlock.vertx.VertxLease;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * A client of redlock-vertx. Clients that share a Vert.x instance exchange release hints on its
 * event bus.
 */
public final class VertxLocks implements LockClient {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final VertxRedlock redlock;

  private VertxLocks(VertxRedlock redlock) {
    this.redlock = redlock;
  }

  /** Connects. When this returns, it is ready to lock. */
  public static VertxLocks connect(Vertx vertx, List<String> uris) {
    VertxRedlock redlock =
        VertxRedlock.create(
            vertx,
            new RedlockOptions()
                .setNodes(uris)
                .setRestartGuard(RestartGuard.OFF.name().toLowerCase(Locale.ROOT)));
    RedlockClient.awaitVotes(redlock.redlock());
    return new VertxLocks(redlock);
  }

  @Override
  public Held acquire(String name) throws Exception {
    VertxLease lease =
        redlock.acquire(name, PATIENCE).toCompletionStage().toCompletableFuture().get();
    return () -> lease.release().toCompletionStage().toCompletableFuture().get();
  }

  @Override
  public void close() {
    redlock.close().toCompletionStage().toCompletableFuture().join();
  }
}
