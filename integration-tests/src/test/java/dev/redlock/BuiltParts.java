package dev.redlock;

import dev.redlock.internal.Assembly;

/** What a builder has collected, for a client on another platform. */
public final class BuiltParts {
  private BuiltParts() {}

  public static Assembly.Parts of(RedlockBuilder builder) {
    return builder.parts();
  }
}
