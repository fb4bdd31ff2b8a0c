package dev.redlock.internal.recording;

import dev.redlock.LeaseEnd;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener.WaitEnd;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.Time;

/**
 * Writes events into a running recording of the JDK Flight Recorder. Without one it costs a check
 * of a flag; without the module {@code jdk.jfr} it does nothing.
 *
 * <p>An event is committed on the thread that decides, which is not the one that waits or holds. So
 * its duration is a field: a bar on the time line of the wrong thread would mislead.
 */
public final class Recorder {
  private static final boolean PRESENT = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

  private Recorder() {}

  /** A caller no longer waits. */
  public static void waited(LockKeys keys, WaitEnd end, long submittedNanos, Time time) {
    if (PRESENT && WaitEvent.isOn()) {
      WaitEvent.commit(keys, end, time.nanos() - submittedNanos);
    }
  }

  /** A lease ended. */
  public static void ended(HeldLease lease, LeaseEnd end, Time time) {
    if (!PRESENT) {
      return;
    }
    if (HoldEvent.isOn()) {
      long now = time.nanos();
      long left = lease.validity().remaining(now, time.wallMillis());
      HoldEvent.commit(lease, end, now - lease.grantedNanos(), left);
    }
    if (!end.byHolder() && LostEvent.isOn()) {
      LostEvent.commit(lease, end);
    }
  }

  /** The state of a node's connection changed. */
  public static void node(Redlock.NodeState state) {
    if (PRESENT && NodeStateEvent.isOn()) {
      NodeStateEvent.commit(state);
    }
  }
}
