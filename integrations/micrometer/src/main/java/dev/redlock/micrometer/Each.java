package dev.redlock.micrometer;

import java.util.List;
import java.util.function.Consumer;

/** A registry may throw. The other registries still get all of their meters and counts. */
final class Each {
  private Each() {}

  /** Gives each element to the action, then throws what the action threw first, if anything. */
  static <T> void of(List<T> elements, Consumer<? super T> action) {
    RuntimeException first = null;
    for (T element : elements) {
      try {
        action.accept(element);
      } catch (RuntimeException e) {
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
