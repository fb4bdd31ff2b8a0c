package dev.redlock.internal.recording;

import dev.redlock.LeaseEnd;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.spi.LockKeys;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** A lease ended. */
@Name("dev.redlock.Hold")
@Label("Lock Hold")
@Description("A lease ended.")
@Category({"Redlock"})
@StackTrace(false)
final class HoldEvent extends Event {
  /** Only asked whether a recording wants such events. */
  private static final HoldEvent ANY = new HoldEvent();

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

  static boolean isOn() {
    return ANY.isEnabled();
  }

  static void commit(HeldLease lease, LeaseEnd end, long heldNanos, long leftNanos) {
    HoldEvent event = new HoldEvent();
    event.names = LockKeys.shown(lease.keys().names());
    event.token = lease.token();
    event.end = end.name();
    event.held = heldNanos;
    event.validityLeft = leftNanos;
    event.commit();
  }
}
