package dev.redlock.harness.timeline;

import dev.redlock.harness.timeline.Timeline.Hold;
import dev.redlock.harness.timeline.Timeline.HolderLane;
import dev.redlock.harness.timeline.Timeline.Window;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Finds the times at which at least two holders held the lock, by one sweep over all starts and
 * ends.
 */
final class Overlaps {
  private Overlaps() {}

  private record Edge(long atNanos, int change) {}

  static List<Window> of(List<HolderLane> lanes) {
    List<Edge> edges = new ArrayList<>();
    for (HolderLane lane : lanes) {
      for (Hold hold : lane.holds()) {
        if (hold.toNanos() > hold.fromNanos()) {
          edges.add(new Edge(hold.fromNanos(), 1));
          edges.add(new Edge(hold.toNanos(), -1));
        }
      }
    }
    // Ends come first at equal times: a hold that starts where another ends does not overlap it.
    edges.sort(Comparator.comparingLong(Edge::atNanos).thenComparingInt(Edge::change));
    List<Window> overlaps = new ArrayList<>();
    int holding = 0;
    long sinceNanos = 0;
    for (Edge edge : edges) {
      int before = holding;
      holding += edge.change();
      if (before == 1 && holding == 2) {
        sinceNanos = edge.atNanos();
      } else if (before == 2 && holding == 1) {
        overlaps.add(new Window(sinceNanos, edge.atNanos()));
      }
    }
    return overlaps;
  }
}
