package dev.redlock;

import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.internal.Assembly;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.Arrays;

/** Builders for the worlds and the tests of this module. */
public final class SimulatedBuilder {
  private SimulatedBuilder() {}

  /** Of a client in real time, which has connections of its own to these nodes. */
  public static RedlockBuilder on(InMemoryLockNode... nodes) {
    return Redlock.builder()
        .nodes(Arrays.stream(nodes).map(InMemoryLockNode::another).toArray(LockNode[]::new))
        .restartGuard(RestartGuard.OFF)
        .nodeTimeout(Duration.ofSeconds(1));
  }

  /** What a builder has collected, for a client in a simulated world. */
  public static Assembly.Parts parts(RedlockBuilder builder) {
    return builder.parts();
  }
}
