package dev.redlock.internal;

import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
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

  // Written by a test before it builds a client, read by all threads.
  private static volatile boolean recordsIgnored;
  private static volatile boolean identitiesIgnored;

  /**
   * Runs the action when a thread reaches this step, instead of an action that was armed before.
   *
   * @throws IllegalStateException if the property {@code redlock.failpoints} is not true
   */
  public void arm(Runnable action) {
    requireOn();
    ARMED.put(this, action);
  }

  /**
   * From now on the clients of this JVM ignore what nodes say of the set of nodes: each works with
   * the list that it was given, and counts votes whatever record a node has. For the control of a
   * test: two such clients can hold one lock.
   *
   * @throws IllegalStateException if the property {@code redlock.failpoints} is not true
   */
  public static void ignoreRecords() {
    requireOn();
    recordsIgnored = true;
  }

  /**
   * From now on the clients of this JVM take all records for those of one deployment, whatever
   * identity they have. For the control of a test, as {@link #ignoreRecords}.
   *
   * @throws IllegalStateException if the property {@code redlock.failpoints} is not true
   */
  public static void ignoreIdentities() {
    requireOn();
    identitiesIgnored = true;
  }

  /** The status as a client takes it. Costs nothing unless failpoints are on. */
  static NodeStatus changed(NodeStatus status) {
    NodeRecord record = status.record();
    if (!ON || record == null) {
      return status;
    }
    return recordsIgnored
        ? status.with(null)
        : identitiesIgnored ? status.with(record.withIdentity("any")) : status;
  }

  private static void requireOn() {
    if (!ON) {
      throw new IllegalStateException("failpoints are off: start with -Dredlock.failpoints=true");
    }
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
