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

/** A lease ended without its holder. */
@Name("dev.redlock.Lost")
@Label("Lease Lost")
@Description("A lease ended without its holder.")
@Category({"Redlock"})
@StackTrace(false)
final class LostEvent extends Event {
  /** Only asked whether a recording wants such events. */
  private static final LostEvent ANY = new LostEvent();

  @Label("Names")
  String names = "";

  @Label("Fencing Token")
  long token;

  @Label("Cause")
  String cause = "";

  static boolean isOn() {
    return ANY.isEnabled();
  }

  static void commit(HeldLease lease, LeaseEnd end) {
    LostEvent event = new LostEvent();
    event.names = LockKeys.shown(lease.keys().names());
    event.token = lease.token();
    event.cause = end.name();
    event.commit();
  }
}
