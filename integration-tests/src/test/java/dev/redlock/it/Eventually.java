package dev.redlock.it;

import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** Waits on a condition with a deadline; prints each node's state when it does not come true. */
public final class Eventually {
  private Eventually() {}

  public interface Condition {
    boolean holds() throws Exception;
  }

  public static void holds(Condition condition, RedisNodes nodes) {
    holds(condition, Duration.ofSeconds(5), nodes);
  }

  public static void holds(Condition condition, Duration within, RedisNodes nodes) {
    try {
      Awaitility.await()
          .pollInSameThread()
          .atMost(within)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(2))
          .until(condition::holds);
    } catch (ConditionTimeoutException e) {
      throw new AssertionError("not within " + within + "\n" + nodes.describe(), e);
    }
  }
}
