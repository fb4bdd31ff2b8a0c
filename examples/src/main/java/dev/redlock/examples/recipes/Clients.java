package dev.redlock.examples.recipes;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.List;

/** Clients of masters that the recipe itself has just started. */
final class Clients {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /**
   * Masters and clients of a recipe share one machine. If it is busy, the default of 250 ms is too
   * short, and a single try would fail for lack of a quorum.
   */
  private static final LockOptions BUSY_MACHINE =
      LockOptions.builder().nodeTimeout(Duration.ofSeconds(1)).build();

  private Clients() {}

  static Redlock connect(List<String> uris) {
    return ready(Redlock.builder().nodes(uris.toArray(String[]::new)));
  }

  /** Builds the client and waits until a quorum votes. */
  static Redlock ready(RedlockBuilder builder) {
    // These masters are new and have forgotten nothing; keep the guard in production.
    Redlock redlock = builder.restartGuard(RestartGuard.OFF).defaults(BUSY_MACHINE).build();
    if (!redlock.awaitReady(PATIENCE)) {
      String nodes = redlock.operations().nodes().toString();
      redlock.close();
      throw new IllegalStateException(
          "no quorum votes after " + PATIENCE.toSeconds() + " s: " + nodes);
    }
    return redlock;
  }
}
