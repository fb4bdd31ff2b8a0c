package dev.redlock;

import dev.redlock.internal.Assembly;

/** What a builder has collected, for a client in a simulated world. */
public final class SimulatedBuilder {
  private SimulatedBuilder() {}

  public static Assembly.Parts parts(RedlockBuilder builder) {
    return builder.parts();
  }
}
