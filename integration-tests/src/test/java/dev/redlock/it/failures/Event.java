package dev.redlock.it.failures;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One line of the history: {@code 123456789 w2 acquired lease=… token=…}. Values contain no spaces.
 *
 * @param atNanos the time on the monotonic clock that all processes of this host share
 * @param who a worker, a node, or the harness
 * @param what the kind of event
 * @param fields additional values
 */
record Event(long atNanos, String who, String what, Map<String, String> fields) {

  static Event of(long atNanos, String who, String what, Object... keysAndValues) {
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      fields.put(
          String.valueOf(keysAndValues[i]),
          String.valueOf(keysAndValues[i + 1]).replaceAll("\\s+", "_"));
    }
    return new Event(atNanos, who, what, fields);
  }

  /** Parses a line; empty if it is not an event. */
  static Optional<Event> parse(String line) {
    String[] words = line.split(" ", -1);
    if (words.length < 3 || !words[0].matches("-?\\d+")) {
      return Optional.empty();
    }
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 3; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      if (equals <= 0) {
        return Optional.empty();
      }
      fields.put(words[i].substring(0, equals), words[i].substring(equals + 1));
    }
    return Optional.of(new Event(Long.parseLong(words[0]), words[1], words[2], fields));
  }

  boolean is(String kind) {
    return what.equals(kind);
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

  List<String> list(String key) {
    return List.of(text(key).split(","));
  }

  @Override
  public String toString() {
    StringBuilder line = new StringBuilder().append(atNanos).append(' ').append(who);
    line.append(' ').append(what);
    fields.forEach((key, value) -> line.append(' ').append(key).append('=').append(value));
    return line.toString();
  }
}
