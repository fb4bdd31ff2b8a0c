package dev.redlock.it.failures;

import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import java.util.ArrayList;
import java.util.List;

/** The keys that masters store; none of one that cannot be asked now. */
final class MasterKeys {
  private MasterKeys() {}

  static List<RedisKey> of(RedisNode master) {
    try {
      return master.keys();
    } catch (RuntimeException e) {
      return List.of(); // It does not run, or was paused meanwhile.
    }
  }

  /** The lock keys on all masters, each behind the name of its master. */
  static List<String> locks(Iterable<RedisNode> masters) {
    List<String> found = new ArrayList<>();
    for (RedisNode master : masters) {
      for (RedisKey key : of(master)) {
        if (key.name().startsWith("redlock:{") && key.name().endsWith("}")) {
          found.add("n" + master.index() + " " + key.name());
        }
      }
    }
    return found;
  }
}
