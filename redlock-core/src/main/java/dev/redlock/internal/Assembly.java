package dev.redlock.internal;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Puts a client together. */
public final class Assembly {
  private Assembly() {}

  /** What a builder collected. */
  public record Parts(
      List<LockNode> nodes,
      List<ReleaseHints> hints,
      List<RedlockListener> listeners,
      LockOptions defaults,
      @Nullable Duration maxLeaseTime,
      RestartGuard restartGuard,
      String keyPrefix,
      boolean traceLeaks,
      @Nullable Executor callbackExecutor,
      @Nullable Time time) {}

  /** Checks the parts and starts the client. */
  @SuppressWarnings("DoNotCallSuggester")
  public static Redlock start(Parts parts) {
    if (parts.nodes().isEmpty()) {
      throw new IllegalArgumentException("no nodes");
    }
    throw new UnsupportedOperationException("being written: " + parts.nodes().size());
  }
}
