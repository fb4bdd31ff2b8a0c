package dev.redlock.it.failures;

import static java.util.stream.Collectors.toSet;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** How much of a history is of processes of another build; see {@code bin/mixed}. */
final class Builds {
  /** The event of a process that is of the other build. */
  static final String OTHER = "other-build";

  private Builds() {}

  /** The line that ends a mixed run; empty if all processes were of this build. */
  static Optional<String> line(List<Event> history) {
    Set<String> ofOther = whoDid(history, OTHER);
    if (ofOther.isEmpty()) {
      return Optional.empty();
    }
    Set<String> ready = whoDid(history, "ready");
    return Optional.of(
        String.format(
            Locale.ROOT,
            "mixed: processes=%d ofOtherBuild=%d grants=%d toOtherBuild=%d",
            ready.size(),
            ready.stream().filter(ofOther::contains).count(),
            history.stream().filter(e -> e.is("acquired")).count(),
            history.stream().filter(e -> e.is("acquired") && ofOther.contains(e.who())).count()));
  }

  private static Set<String> whoDid(List<Event> history, String what) {
    return history.stream().filter(e -> e.is(what)).map(Event::who).collect(toSet());
  }
}
