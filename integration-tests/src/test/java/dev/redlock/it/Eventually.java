package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.QuorumUnavailableException;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Waits for a condition with a deadline. A failure prints the state of each node.
 *
 * <p>A condition that throws an exception does not hold yet: during a failover no master serves a
 * slot, and a node that was just started does not reply. When the time has passed, the last
 * exception is the cause of the failure. An error, such as a failed assertion, ends the wait.
 */
public final class Eventually {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private Eventually() {}

  public interface Condition {
    boolean holds() throws Exception;
  }

  public static void holds(Condition condition, RedisNodes nodes) {
    holds(condition, PATIENCE, nodes);
  }

  public static void holds(Condition condition, Duration within, RedisNodes nodes) {
    holds(condition, within, nodes::describe);
  }

  /** The same with a description that is computed only when the time has passed. */
  public static void holds(Condition condition, Duration within, Supplier<String> describe) {
    try {
      Awaitility.await()
          .pollInSameThread()
          .atMost(within)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(2))
          .ignoreExceptionsMatching(Exception.class::isInstance)
          .until(condition::holds);
    } catch (ConditionTimeoutException e) {
      throw new AssertionError("not within " + within + "\n" + describe.get(), e);
    }
  }

  /**
   * Waits until an attempt is refused with this reason. An attempt that succeeds fails the test. A
   * single attempt does not always have the reason: if the machine pauses, the client reports a
   * timeout until its next attempt to connect.
   *
   * @param attempt an empty result means that an earlier attempt is not rolled back yet; a failed
   *     future may be thrown as {@link ExecutionException}
   * @return the refusal
   */
  public static QuorumUnavailableException refused(
      Callable<?> attempt, String reason, Duration within, Supplier<String> describe) {
    AtomicReference<QuorumUnavailableException> refusal = new AtomicReference<>();
    holds(
        () -> {
          try {
            Object done = attempt.call();
            assertThat(done).as("must be refused: %s", reason).isEqualTo(Optional.empty());
            return false;
          } catch (QuorumUnavailableException | ExecutionException e) {
            Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
            if (cause instanceof QuorumUnavailableException refused
                && refused.getMessage().contains(reason)) {
              refusal.set(refused);
              return true;
            }
            throw e; // The last one is the cause of the failure.
          }
        },
        within,
        describe);
    return refusal.get();
  }
}
