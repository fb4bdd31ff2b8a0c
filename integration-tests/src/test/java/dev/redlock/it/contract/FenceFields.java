package dev.redlock.it.contract;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The value of a fence key: {@code fence:ended:wanted}. */
final class FenceFields {
  private static final List<String> NAMES = List.of("fence", "ended", "wanted");

  private FenceFields() {}

  /** The number of this name; null for 0, which stands for "none". */
  static @Nullable String of(String stored, String name) {
    String number = stored.split(":", -1)[NAMES.indexOf(name)];
    return number.equals("0") ? null : number;
  }

  /** A fence key in which only this field is set. */
  static String with(String name, String value) {
    return String.join(":", NAMES.stream().map(n -> n.equals(name) ? value : "0").toList());
  }
}
