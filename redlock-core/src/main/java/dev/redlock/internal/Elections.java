package dev.redlock.internal;

import dev.redlock.LeaderElection;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Makes elections on clients of this library, whose clock and timers they share. */
public final class Elections {
  private Elections() {}

  /** What was configured. */
  public record Terms(
      String name,
      LockOptions options,
      Duration stopMargin,
      Duration stopTimeout,
      Duration retryPause) {}

  /** Makes an election that is not started. */
  public static LeaderElection create(
      Redlock redlock,
      Terms terms,
      LeaderElection.Work work,
      LeaderElection.Listener listener,
      @Nullable Executor executor) {
    if (!(redlock instanceof Client client)) {
      throw new IllegalArgumentException(
          "an election needs a client made by Redlock.builder(), was " + redlock.getClass());
    }
    return new Election(
        client, terms, work, listener, executor != null ? executor : client.callbacks());
  }
}
