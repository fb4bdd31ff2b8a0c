package dev.redlock.cluster.internal;

import dev.redlock.internal.text.Printable;
import dev.redlock.spi.LockKeys;
import io.lettuce.core.cluster.SlotHash;
import java.util.List;

/** Computes the slots of names. All keys of one name carry its hash tag, so they share a slot. */
public final class Slots {
  static final int COUNT = SlotHash.SLOT_COUNT;

  private Slots() {}

  /** The slot of the name at this index. */
  public static int of(LockKeys keys, int index) {
    return SlotHash.getSlot(keys.lockKeyBytes(index));
  }

  /** The slot of this lock key. */
  static int of(String lockKey) {
    return SlotHash.getSlot(lockKey);
  }

  /**
   * Checks that all names share a slot.
   *
   * @throws IllegalArgumentException if they do not; the message names two names and their slots
   */
  public static void requireOne(LockKeys keys) {
    List<String> names = keys.names();
    int first = of(keys, 0);
    for (int i = 1; i < keys.size(); i++) {
      int slot = of(keys, i);
      if (slot != first) {
        throw new IllegalArgumentException(
            ("names of one lock must share a slot of the cluster, but '%s' is in slot %s and '%s'"
                    + " in slot %s: give them the same hash tag, as in a_{tag} and b_{tag}")
                .formatted(Printable.of(names.get(0)), first, Printable.of(names.get(i)), slot));
      }
    }
  }
}
