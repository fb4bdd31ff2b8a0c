package dev.redlock.internal;

import dev.redlock.AcquireVerdict;
import dev.redlock.LeaseEnd;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.Time;
import jdk.jfr.FlightRecorder;

/**
 * Writes events into a running recording of the JDK Flight Recorder. Until the first recording of
 * the JVM it costs a check of a flag, and the classes of the events stay unloaded: loading them
 * takes longer than the first acquire. Without the module {@code jdk.jfr} it does nothing.
 *
 * <p>An event is committed on the thread that decides, which is not the one that waits or holds. So
 * its duration is a field: a bar on the time line of the wrong thread would mislead.
 */
final class Recorder {
  private static final boolean PRESENT = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

  private Recorder() {}

  private static boolean recording() {
    return PRESENT && FlightRecorder.isInitialized();
  }

  static void waited(LockKeys keys, AcquireVerdict verdict, long submittedNanos, Time time) {
    if (recording()) {
      JfrEvents.waited(keys, verdict, submittedNanos, time);
    }
  }

  static void ended(HeldLease lease, LeaseEnd end, Time time) {
    if (recording()) {
      JfrEvents.ended(lease, end, time);
    }
  }

  static void node(NodeState state) {
    if (recording()) {
      JfrEvents.node(state);
    }
  }
}
