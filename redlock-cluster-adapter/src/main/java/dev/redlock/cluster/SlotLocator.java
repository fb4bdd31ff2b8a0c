package dev.redlock.cluster;

import dev.redlock.cluster.internal.Slots;
import dev.redlock.spi.LockKeys;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * Computes the slot and the master of a name, for operators and for programs that distribute load.
 * Names with the same hash tag, <code>{…}</code>, share a slot and therefore a master.
 */
public final class SlotLocator {
  private static final String ANY_PREFIX = "redlock";

  private final IntFunction<Optional<String>> masterOf;

  SlotLocator(IntFunction<Optional<String>> masterOf) {
    this.masterOf = masterOf;
  }

  /**
   * A name, its slot and its master.
   *
   * @param name the name of a lock
   * @param slot its slot, 0 to 16383
   * @param master host and port of the master that serves the slot, according to the last topology
   *     that this client received; empty before the first topology, and for a slot that no master
   *     serves
   */
  public record Location(String name, int slot, Optional<String> master) {}

  /**
   * Returns the slot of a name. If the name has a well-formed hash tag ({@code buy_{42}} has the
   * tag {@code 42}), it is the slot of the tag; otherwise it is the slot of the whole encoded name.
   *
   * @throws IllegalArgumentException if no lock may have this name
   */
  public static int slot(String name) {
    return Slots.of(LockKeys.of(ANY_PREFIX, List.of(name)), 0);
  }

  /**
   * Returns the slot and the master of a name, according to the last topology that this client
   * received.
   *
   * @throws IllegalArgumentException if no lock may have this name
   */
  public Location locate(String name) {
    int slot = slot(name);
    return new Location(name, slot, masterOf.apply(slot));
  }
}
