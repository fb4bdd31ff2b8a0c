package dev.redlock.internal;

import dev.redlock.AcquireVerdict;
import dev.redlock.LeaseEnd;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.Time;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** The events, and what fills them. Only a runtime with the module {@code jdk.jfr} loads them. */
final class JfrEvents {
  /** Only asked whether a recording wants such events: without one, no event is made. */
  private static final WaitEvent ANY_WAIT = new WaitEvent();

  private static final HoldEvent ANY_HOLD = new HoldEvent();
  private static final LostEvent ANY_LOST = new LostEvent();

  private JfrEvents() {}

  static void waited(LockKeys keys, AcquireVerdict verdict, long submittedNanos, Time time) {
    if (ANY_WAIT.isEnabled()) {
      WaitEvent event = new WaitEvent();
      event.names = LockKeys.shown(keys.names());
      event.outcome = verdict.name();
      event.waited = time.nanos() - submittedNanos;
      event.commit();
    }
  }

  static void ended(HeldLease lease, LeaseEnd end, Time time) {
    if (ANY_HOLD.isEnabled()) {
      HoldEvent hold = new HoldEvent();
      long now = time.nanos();
      hold.names = LockKeys.shown(lease.keys().names());
      hold.token = lease.token();
      hold.end = end.name();
      hold.held = now - lease.grantedNanos();
      hold.validityLeft = lease.validity().remaining(now, time.wallMillis());
      hold.commit();
    }
    if (!end.byHolder() && ANY_LOST.isEnabled()) {
      LostEvent lost = new LostEvent();
      lost.names = LockKeys.shown(lease.keys().names());
      lost.token = lease.token();
      lost.cause = end.name();
      lost.commit();
    }
  }

  static void node(NodeState node) {
    NodeStateEvent event = new NodeStateEvent();
    if (event.isEnabled()) {
      event.node = node.node();
      event.state = node.state().name();
      event.cause = node.cause();
      event.commit();
    }
  }

  @Name("dev.redlock.Wait")
  @Label("Lock Wait")
  @Description("A caller no longer waits for a lock.")
  @Category("Redlock")
  @StackTrace(false)
  static final class WaitEvent extends Event {
    @Label("Names")
    String names = "";

    @Label("Outcome")
    String outcome = "";

    @Label("Waited")
    @Timespan(Timespan.NANOSECONDS)
    long waited;
  }

  @Name("dev.redlock.Hold")
  @Label("Lock Hold")
  @Description("A lease ended.")
  @Category("Redlock")
  @StackTrace(false)
  static final class HoldEvent extends Event {
    @Label("Names")
    String names = "";

    @Label("Fencing Token")
    long token;

    @Label("End")
    String end = "";

    @Label("Held")
    @Timespan(Timespan.NANOSECONDS)
    long held;

    @Label("Validity Left")
    @Timespan(Timespan.NANOSECONDS)
    long validityLeft;
  }

  @Name("dev.redlock.Lost")
  @Label("Lease Lost")
  @Description("A lease ended without its holder.")
  @Category("Redlock")
  @StackTrace(false)
  static final class LostEvent extends Event {
    @Label("Names")
    String names = "";

    @Label("Fencing Token")
    long token;

    @Label("Cause")
    String cause = "";
  }

  @Name("dev.redlock.NodeState")
  @Label("Node State")
  @Description("The state of a node's connection changed.")
  @Category("Redlock")
  @StackTrace(false)
  static final class NodeStateEvent extends Event {
    @Label("Node")
    String node = "";

    @Label("State")
    String state = "";

    @Label("Cause")
    String cause = "";
  }
}
