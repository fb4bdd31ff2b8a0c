package dev.redlock.internal;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The steps of a lock's actor at which a test can stop a real client. A test arms a step with an
 * action; the next thread that reaches the step runs it, once. A test can arm a step only if the
 * system property {@code redlock.failpoints} is {@code true}. The client then logs a warning.
 */
public enum Failpoint {
  /** Other nodes may have got the request; this one has not. */
  BEFORE_SEND,
  /** A reply has arrived, and the actor does not know it yet. */
  BEFORE_VOTE,
  /** The lease is granted, and its caller does not know it yet. */
  BEFORE_GRANT,
  /** The lease has ended or is handed off, and neither caller knows it yet. */
  BEFORE_END,
  /** A timer has fired: a timeout, an extension or a retry is due. */
  BEFORE_TIMER;

  private static final boolean ON = Boolean.getBoolean("redlock.failpoints");

  private static final Map<Failpoint, Runnable> ARMED = new ConcurrentHashMap<>();

  /**
   * Runs the action when a thread reaches this step, instead of an action that was armed before.
   *
   * @throws IllegalStateException if the property {@code redlock.failpoints} is not true
   */
  public void arm(Runnable action) {
    if (!ON) {
      throw new IllegalStateException("failpoints are off: start with -Dredlock.failpoints=true");
    }
    ARMED.put(this, action);
  }

  /** A thread has reached this step. Costs nothing unless failpoints are on. */
  void reached() {
    if (ON) {
      Runnable action = ARMED.remove(this);
      if (action != null) {
        action.run();
      }
    }
  }

  static boolean areOn() {
    return ON;
  }
}
