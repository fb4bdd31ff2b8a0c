package dev.redlock.bench.load;

import java.time.Duration;

/**
 * Callers that lock one name: each is granted the lock, holds it, releases it, pauses, and asks
 * again.
 *
 * @param clients how many clients take part, each with connections of its own
 * @param threads the number of callers of each client
 * @param names how many names each caller uses in turn, the same for all callers
 * @param warmUp the number of grants before the measurement begins
 * @param grants the number of grants after which the measurement ends
 * @param time ends the measurement earlier
 */
public record Competition(
    int clients,
    int threads,
    int names,
    Duration hold,
    Duration pause,
    int warmUp,
    int grants,
    Duration time) {

  /** One caller that asks again at once, over a few dozen names. */
  public static Competition alone(int grants, Duration time) {
    return new Competition(1, 1, 64, Duration.ZERO, Duration.ZERO, 10, grants, time);
  }

  /** The number of callers. */
  public int callers() {
    return clients * threads;
  }
}
