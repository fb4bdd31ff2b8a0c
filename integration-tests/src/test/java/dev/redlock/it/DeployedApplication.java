package dev.redlock.it;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** An application as {@link RedeploymentIT} sees it: by types of the JDK only. */
public final class DeployedApplication implements Runnable, AutoCloseable {
  private static final Duration WAIT = Duration.ofSeconds(10);

  private final Redlock redlock;

  public DeployedApplication(String[] uris) {
    redlock =
        Redlock.builder()
            .nodes(uris)
            .restartGuard(RestartGuard.OFF)
            .defaults(
                LockOptions.builder()
                    .leaseTime(Duration.ofSeconds(30))
                    .nodeTimeout(Duration.ofSeconds(1))
                    .build())
            .build();
  }

  /** Locks in the ways that use different threads. */
  @Override
  public void run() {
    String name = Thread.currentThread().getName();
    try {
      redlock.lock(name).acquire(WAIT).close();
      try (Lease lease = redlock.lock("shared").acquire(WAIT)) {
        var unused = lease.whenEnded().thenAccept(end -> {});
      }
      CompletionStage<Lease> later = redlock.lock(name).acquireAsync(WAIT);
      later
          .thenCompose(Lease::releaseAsync)
          .handle((released, failure) -> true) // On a busy machine no node may reply in time.
          .toCompletableFuture()
          .get(WAIT.toSeconds(), TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    redlock.close();
  }
}
