package dev.redlock.cluster;

import dev.redlock.cluster.internal.Cluster;
import dev.redlock.cluster.internal.Slots;
import dev.redlock.spi.LockKeys;
import java.util.List;
import java.util.Optional;

/**
 * Tells where in the cluster a name lives. For people and for spreading load: names with the same
 * tag, {@code {…}}, share a slot and so a master.
 */
public final class SlotLocator {
  private static final String ANY_PREFIX = "redlock";

  private final Cluster cluster;

  SlotLocator(Cluster cluster) {
    this.cluster = cluster;
  }

  /**
   * A name and its place.
   *
   * @param name the name of a lock
   * @param slot its slot, 0 to 16383
   * @param master host and port of the master that serves the slot as far as this client knows;
   *     empty before the cluster was first reached, and for slots that nobody serves
   */
  public record Location(String name, int slot, Optional<String> master) {}

  /**
   * The slot of a name: that of its own tag if it has a well-formed one ({@code buy_{42}}: {@code
   * 42}), else that of the whole name as it is encoded.
   *
   * @throws IllegalArgumentException if no lock may have this name
   */
  public static int slot(String name) {
    return Slots.of(LockKeys.of(ANY_PREFIX, List.of(name)), 0);
  }

  /**
   * Slot and master of a name, by what is known now.
   *
   * @throws IllegalArgumentException if no lock may have this name
   */
  public Location locate(String name) {
    int slot = slot(name);
    return new Location(name, slot, cluster.masterOf(slot));
  }
}
