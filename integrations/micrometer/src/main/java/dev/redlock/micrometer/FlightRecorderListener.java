package dev.redlock.micrometer;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.RedlockListener;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockKeys;
import java.time.Duration;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * Writes the events of a client into the running recordings of the JDK Flight Recorder: {@code
 * dev.redlock.Wait}, {@code Hold}, {@code Lost} and {@code NodeState}, which are on by default.
 * Pass it to {@link dev.redlock.RedlockBuilder#listener}. Needs the module {@code jdk.jfr}, but not
 * Micrometer.
 *
 * <p>An event is committed on a callback thread up to 10 ms after what it tells. So its durations
 * are fields: a bar on the time line of the wrong thread would mislead.
 *
 * <p>Safe from any thread; several clients may have the same object.
 */
public final class FlightRecorderListener implements RedlockListener {
  /** A listener for one or more clients. */
  public FlightRecorderListener() {}

  @Override
  public void onWaiterLeft(
      Caller caller, AcquireVerdict verdict, Duration waited, @Nullable AcquireReport report) {
    WaitEvent event = new WaitEvent();
    if (event.isEnabled()) {
      event.names = LockKeys.shown(caller.names());
      event.outcome = verdict.name();
      event.waited = waited.toNanos();
      event.commit();
    }
  }

  @Override
  public void onEnded(Lease lease, LeaseEnd end, Duration held, Duration validityLeft) {
    HoldEvent hold = new HoldEvent();
    if (hold.isEnabled()) {
      hold.names = LockKeys.shown(lease.names());
      hold.token = lease.fencingToken().value();
      hold.end = end.name();
      hold.held = held.toNanos();
      hold.validityLeft = validityLeft.toNanos();
      hold.commit();
    }
    LostEvent lost = new LostEvent();
    if (!end.byHolder() && lost.isEnabled()) {
      lost.names = LockKeys.shown(lease.names());
      lost.token = lease.fencingToken().value();
      lost.cause = end.name();
      lost.commit();
    }
  }

  @Override
  public void onNode(NodeState node) {
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
