package dev.redlock.cluster.internal;

import dev.redlock.spi.LockKeys;
import io.lettuce.core.cluster.SlotHash;
import org.jspecify.annotations.Nullable;

/** Which slot names are in. All keys of one name carry its tag, so they share a slot. */
public final class Slots {
  static final int COUNT = SlotHash.SLOT_COUNT;

  /** The slot of names that do not share one. */
  static final int NONE = -1;

  private Slots() {}

  /** The slot of the name at this index. */
  public static int of(LockKeys keys, int index) {
    return SlotHash.getSlot(keys.lockKeyBytes(index));
  }

  /** The slot of all names, or {@link #NONE}. */
  static int of(LockKeys keys) {
    return complaint(keys) == null ? of(keys, 0) : NONE;
  }

  /**
   * Checks that all names share a slot.
   *
   * @throws IllegalArgumentException naming two that do not, with their slots
   */
  public static void requireOne(LockKeys keys) {
    String complaint = complaint(keys);
    if (complaint != null) {
      throw new IllegalArgumentException(complaint);
    }
  }

  static @Nullable String complaint(LockKeys keys) {
    int first = of(keys, 0);
    for (int i = 1; i < keys.size(); i++) {
      int slot = of(keys, i);
      if (slot != first) {
        return "names of one lock must share a slot of the cluster, but '"
            + keys.names().get(0)
            + "' is in slot "
            + first
            + " and '"
            + keys.names().get(i)
            + "' in slot "
            + slot
            + ": give them the same tag, as in a_{tag} and b_{tag}";
      }
    }
    return null;
  }
}
