package dev.redlock.cli.look;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Writes one JSON object in one line (RFC 8259). A field without a value is null. */
public final class Json {
  private final StringBuilder text = new StringBuilder("{");

  /** Adds a text, a number, a truth value, or null. */
  public Json put(String field, @Nullable Object value) {
    return raw(field, value instanceof String text ? quoted(text) : String.valueOf(value));
  }

  /** Adds a time in whole milliseconds; the name of the field says so. */
  public Json putMillis(String field, @Nullable Duration value) {
    return raw(field + "Millis", value == null ? "null" : Long.toString(value.toMillis()));
  }

  /** Adds an array of values that are JSON already. */
  public Json putAll(String field, Iterable<String> values) {
    return raw(field, "[" + String.join(",", values) + "]");
  }

  private Json raw(String field, String value) {
    if (text.length() > 1) {
      text.append(',');
    }
    text.append(quoted(field)).append(':').append(value);
    return this;
  }

  /** The text as a JSON string, with its quotation marks. */
  public static String quoted(String value) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' '
          || c == '\u007f'
          || Character.isSurrogate(c)
          || c == '\u2028'
          || c == '\u2029') {
        quoted.append("\\u%04x".formatted((int) c)); // Also half of a pair, which is no text.
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  @Override
  public String toString() {
    return text + "}";
  }
}
