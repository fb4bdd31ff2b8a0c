package dev.redlock.spring.boot;

import dev.redlock.internal.text.Printable;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A property has a value that the client rejects. */
final class InvalidRedlockPropertyException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private final String key;

  /**
   * @param key the full key
   * @param value the value, without credentials; null if the reason has it
   * @param reason what is allowed
   */
  InvalidRedlockPropertyException(String key, @Nullable Object value, String reason) {
    super("Property '" + key + "'" + shown(value) + ": " + reason);
    this.key = key;
  }

  private static String shown(@Nullable Object value) {
    return value == null
        ? ""
        : " = '" + (value instanceof Duration time ? Printable.of(time) : value) + "'";
  }

  String key() {
    return key;
  }
}
