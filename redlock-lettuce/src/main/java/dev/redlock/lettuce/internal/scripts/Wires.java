package dev.redlock.lettuce.internal.scripts;

import static java.util.stream.Collectors.joining;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The versions of keys and scripts that a client speaks.
 *
 * @param all the versions, at least one
 */
public record Wires(List<Wire> all) {
  /** The version of this library alone. */
  public static final Wires SHIPPED = new Wires(List.of(Wire.FIRST));

  public Wires {
    all = List.copyOf(all);
  }

  /** The version that a marker says; null if the client does not speak it. */
  public @Nullable Wire of(long version) {
    for (Wire wire : all) {
      if (wire.version() == version) {
        return wire;
      }
    }
    return null;
  }

  /** For messages: {@code version 1}, or {@code versions 1 and 2}. */
  @Override
  public String toString() {
    return (all.size() == 1 ? "version " : "versions ")
        + all.stream().map(wire -> Integer.toString(wire.version())).collect(joining(" and "));
  }
}
