package dev.redlock.testkit;

import dev.redlock.testkit.internal.PortReservation;
import dev.redlock.testkit.internal.Watchdog;
import java.util.ArrayList;
import java.util.List;

/**
 * For containers that a test starts by a program of its own. It is in this package because they end
 * with the JVM as those of the kit do.
 */
public final class ContainersOfTest {
  private ContainersOfTest() {}

  /** Removes the container when this JVM has ended, also if it was killed. */
  public static void endWithThisJvm(String id) {
    Watchdog.watchContainer(id);
  }

  /** Ports of 127.0.0.1 that were free a moment ago. */
  public static List<Integer> freePorts(int count) {
    List<PortReservation> reservations = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      reservations.add(PortReservation.any());
    }
    reservations.forEach(PortReservation::close);
    return reservations.stream().map(PortReservation::port).toList();
  }
}
