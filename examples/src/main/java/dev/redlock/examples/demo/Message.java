package dev.redlock.examples.demo;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * One line between the shop and a worker: {@code sale thread=2 token=17…}. Values are URL-encoded,
 * so any text fits on one line.
 */
record Message(String type, Map<String, String> fields) {

  /** Creates a message from alternating keys and values. */
  static Message of(String type, Object... keysAndValues) {
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      fields.put(String.valueOf(keysAndValues[i]), String.valueOf(keysAndValues[i + 1]));
    }
    return new Message(type, fields);
  }

  /** Parses a line; empty if it is not a message, for example a warning of the JVM. */
  static Optional<Message> parse(String line) {
    String[] words = line.split(" ", -1);
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 1; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      if (equals <= 0) {
        return Optional.empty();
      }
      String value = words[i].substring(equals + 1);
      try {
        fields.put(words[i].substring(0, equals), URLDecoder.decode(value, StandardCharsets.UTF_8));
      } catch (IllegalArgumentException e) {
        return Optional.empty();
      }
    }
    return words[0].matches("[a-z]+")
        ? Optional.of(new Message(words[0], fields))
        : Optional.empty();
  }

  /** Returns a required field. */
  String text(String key) {
    String value = fields.get(key);
    if (value == null) {
      throw new IllegalArgumentException("no " + key + " in " + this);
    }
    return value;
  }

  long number(String key) {
    return Long.parseLong(text(key));
  }

  @Override
  public String toString() {
    StringBuilder line = new StringBuilder(type);
    fields.forEach(
        (key, value) ->
            line.append(' ')
                .append(key)
                .append('=')
                .append(URLEncoder.encode(value, StandardCharsets.UTF_8)));
    return line.toString();
  }
}
