package dev.redlock.simulation;

import dev.redlock.simulation.History.Kind;
import dev.redlock.simulation.History.Span;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/**
 * Writes a history as the text that {@code TimelineFile} draws: the leases, the states of the nodes
 * and the faults. The script {@code bin/simulate} starts the drawing.
 */
final class TimelineText {
  private final World world;
  private final List<String> lines = new ArrayList<>();

  private TimelineText(World world) {
    this.world = world;
  }

  static List<String> of(Simulator.Result result) {
    TimelineText p = new TimelineText(result.world());
    p.head(result);
    p.holders();
    p.nodes();
    p.faults();
    p.line(
        "note",
        "Virtual time. A node is drawn as quarantined until all clients may trust it again.");
    return p.lines;
  }

  private void line(Object... fields) {
    StringBuilder line = new StringBuilder();
    for (Object field : fields) {
      line.append(line.length() == 0 ? "" : "\t").append(String.valueOf(field).replace('\t', ' '));
    }
    lines.add(line.toString());
  }

  private void head(Simulator.Result result) {
    line("title", "Simulated history, seed " + result.seed(), Math.max(1, world.now));
    String rule = result.rule();
    line("verdict", rule == null, rule == null ? "PASS" : "VIOLATION: " + result.violation());
    line("fact", "events", result.events());
    line("fact", "digest", String.format(Locale.ROOT, "%016x", result.digest()));
    line("fact", "nodes", world.scenario.nodes);
    line("fact", "lease time", world.scenario.ttlNanos / Scenario.MS + " ms");
  }

  private void holders() {
    for (SimClient client : world.clients) {
      line("holder", lane(client.name()));
    }
    for (Span s : world.history.spans) {
      if (s.kind() == Kind.HOLDS) {
        line("hold", lane(s.lane()), s.from(), s.to(), s.token(), s.what());
      }
    }
  }

  /** All processes that replace one client share its lane. */
  private static String lane(String client) {
    return client.substring(0, 1);
  }

  private void nodes() {
    for (SimNode node : world.nodes) {
      TreeSet<Long> edges = new TreeSet<>(List.of(0L, world.now));
      for (Span s : world.history.spans) {
        if (s.lane().equals(node.name) && s.kind() != Kind.FAULT) {
          edges.add(Math.min(world.now, s.from()));
          edges.add(Math.min(world.now, s.to()));
        }
      }
      long from = -1;
      for (long to : edges) {
        if (from >= 0) {
          line("node", node.name, state(node, from), from, to);
        }
        from = to;
      }
    }
  }

  private String state(SimNode node, long at) {
    Kind worst = null;
    for (Span s : world.history.spans) {
      boolean here = s.lane().equals(node.name) && s.from() <= at && at < s.to();
      if (here && s.kind() != Kind.FAULT && (worst == null || s.kind().compareTo(worst) < 0)) {
        worst = s.kind();
      }
    }
    return worst == null ? "VOTING" : worst.toString();
  }

  private void faults() {
    for (Span s : world.history.spans) {
      if (s.kind() == Kind.FAULT) {
        boolean node = s.lane().startsWith("n");
        line("fault", s.from(), node ? s.lane() : lane(s.lane()), s.lane() + " " + s.what());
      }
    }
  }
}
