package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;

/** The endpoint with {@code redlock.endpoint.break-enabled}. */
@Endpoint(id = "redlock")
class BreakingRedlockEndpoint extends RedlockEndpoint {

  BreakingRedlockEndpoint(Redlock redlock, HeldLeases held) {
    super(redlock, held);
  }

  /**
   * Takes the lock from its holder; see {@link dev.redlock.operations.Operations#breakLock}.
   * Returns what was stored.
   */
  @DeleteOperation
  public Map<String, Object> breakLock(@Selector(match = Match.ALL_REMAINING) String... name) {
    return breakLockOf(name);
  }
}
