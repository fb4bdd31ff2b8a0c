package dev.redlock.simulation;

import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/**
 * How close histories come to each {@link Bound}: the largest part of it that was used. If no
 * history comes near a bound, the bound proves nothing. If histories nearly reach it, it soon
 * causes a false alarm.
 */
final class Margins {
  private static final class Used {
    long checks;
    double part;
    long used;
    long allowed;
    long seed;
  }

  private final Map<Bound, Used> most = new EnumMap<>(Bound.class);

  /** Fails if more is used than allowed. */
  void require(Bound bound, long used, long allowed, Object what) {
    Used u = most.computeIfAbsent(bound, b -> new Used());
    u.checks++;
    double part = allowed <= 0 ? used : (double) used / allowed;
    if (part > u.part) {
      u.part = part;
      u.used = used;
      u.allowed = allowed;
    }
    if (used > allowed) {
      throw new Violation(
          bound.rule,
          String.format(
                  "%s: %s %d, allowed are ", what, bound.name().toLowerCase(Locale.ROOT), used)
              + allowed);
    }
  }

  /** Adds those of a seed. */
  synchronized void add(Margins other, long seed) {
    other.most.forEach(
        (bound, o) -> {
          Used u = most.computeIfAbsent(bound, b -> new Used());
          u.checks += o.checks;
          if (o.part > u.part || (o.part == u.part && seed < u.seed)) {
            u.part = o.part;
            u.used = o.used;
            u.allowed = o.allowed;
            u.seed = seed;
          }
        });
  }

  /** How often this bound was checked. */
  synchronized long checks(Bound bound) {
    Used u = most.get(bound);
    return u == null ? 0 : u.checks;
  }

  synchronized void print(PrintWriter out) {
    out.println("| bound | checks | most used | allowed there | part | seed |");
    out.println("|---|---|---|---|---|---|");
    most.forEach(
        (bound, u) ->
            out.printf(
                Locale.ROOT,
                "| %s | %d | %d | %d | %.2f | %d |%n",
                bound,
                u.checks,
                u.used,
                u.allowed,
                u.part,
                u.seed));
  }
}
