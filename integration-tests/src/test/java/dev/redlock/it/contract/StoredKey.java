package dev.redlock.it.contract;

import dev.redlock.lettuce.internal.scripts.Wire;
import java.util.regex.Pattern;

/** The key that a server stores for one of {@link dev.redlock.spi.LockKeys}. */
final class StoredKey {
  private static final Pattern OF_QUEUE = Pattern.compile("[^}]*:(queue|wake|watch)(:.*)?");

  private StoredKey() {}

  static String of(String key) {
    String rest = key.substring(key.lastIndexOf('}') + 1);
    return OF_QUEUE.matcher(rest).matches() ? Wire.named(key) : key;
  }
}
