package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.Optional;
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

  /**
   * Tries until an attempt is refused for this reason, and no attempt succeeds. The client tells
   * why the last connection failed: during a pause of the machine, that is a timeout.
   *
   * @return the refusal
   */
  public static QuorumUnavailableException refused(
      Supplier<Optional<Lease>> attempt,
      String reason,
      Duration within,
      Supplier<String> describe) {
    AtomicReference<QuorumUnavailableException> refusal = new AtomicReference<>();
    holds(
        () -> {
          try {
            assertThat(attempt.get()).as("must be refused: " + reason).isEmpty();
            return false;
          } catch (QuorumUnavailableException e) {
            refusal.set(e);
            if (!e.getMessage().contains(reason)) {
              throw e; // Is the cause of the failure if no better one comes.
            }
            return true;
          }
        },
        within,
        describe);
    return refusal.get();
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
}
