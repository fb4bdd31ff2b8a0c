package dev.redlock.spring;

import java.util.Collection;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The text of a value as a part of a lock name. Equal values must have the same text in each JVM:
 * else two processes work at the same time. The text of a {@code Date} depends on the time zone,
 * that of a set on its order, that of an {@code InetAddress} on a look-up.
 */
public final class StableText {
  private StableText() {}

  /**
   * The text of a text, character, number, boolean, enum constant (its name), {@code UUID} or value
   * of {@code java.time}; null for any other value, and for null.
   */
  public static @Nullable String of(@Nullable Object value) {
    if (value instanceof Enum<?> constant) {
      return constant.name();
    }
    return value != null && isStable(value) ? value.toString() : null;
  }

  private static boolean isStable(Object value) {
    String type = value.getClass().getName();
    return value instanceof CharSequence
        || value instanceof Character
        || value instanceof Boolean
        || value instanceof UUID
        || (value instanceof Number && type.startsWith("java."))
        || type.startsWith("java.time.");
  }

  /** Why the value has no such text, and what to write instead. */
  public static String reason(Object value) {
    String type = value.getClass().getTypeName();
    if (value instanceof Collection<?>
        || value instanceof Map<?, ?>
        || value.getClass().isArray()) {
      return "is a "
          + type
          + ", whose elements have no fixed order as text: a collection must be all of a name";
    }
    return "is a "
        + type
        + ", whose text may differ between two processes: take a text, number, enum, UUID or value"
        + " of java.time, such as an id of it, or its toString() if that is the same everywhere";
  }
}
