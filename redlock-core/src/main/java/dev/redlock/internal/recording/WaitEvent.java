package dev.redlock.internal.recording;

import dev.redlock.RedlockListener.WaitEnd;
import dev.redlock.spi.LockKeys;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** A caller no longer waits for a lock. */
@Name("dev.redlock.Wait")
@Label("Lock Wait")
@Description("A caller no longer waits for a lock.")
@Category({"Redlock"})
@StackTrace(false)
final class WaitEvent extends Event {
  /** Only asked whether a recording wants such events. */
  private static final WaitEvent ANY = new WaitEvent();

  @Label("Names")
  String names = "";

  @Label("Outcome")
  String outcome = "";

  @Label("Waited")
  @Timespan(Timespan.NANOSECONDS)
  long waited;

  static boolean isOn() {
    return ANY.isEnabled();
  }

  static void commit(LockKeys keys, WaitEnd end, long waitedNanos) {
    WaitEvent event = new WaitEvent();
    event.names = LockKeys.shown(keys.names());
    event.outcome = end.name();
    event.waited = waitedNanos;
    event.commit();
  }
}
