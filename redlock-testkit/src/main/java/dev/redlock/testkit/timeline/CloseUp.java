package dev.redlock.testkit.timeline;

import dev.redlock.testkit.timeline.Timeline.Hold;
import dev.redlock.testkit.timeline.Timeline.HolderLane;
import dev.redlock.testkit.timeline.Timeline.Window;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses what to magnify: thousands of holds in one picture are a grey strip, so a few are shown
 * one by one.
 */
public final class CloseUp {
  /** At most how many times longer than the median stretch the chosen one may be. */
  private static final int LONGEST = 2;

  private CloseUp() {}

  private record Turn(int lane, Hold hold) {}

  /**
   * The stretch of {@code count} holds in a row in which the lock changed hands between lanes most
   * often; among equals the shortest. Null if there are fewer holds than that.
   */
  public static @Nullable Window liveliest(List<HolderLane> lanes, int count) {
    List<Turn> turns = turns(lanes);
    if (count < 2 || turns.size() < count) {
      return null;
    }
    List<Long> lengths = new ArrayList<>();
    for (int first = 0; first + count <= turns.size(); first++) {
      lengths.add(length(turns, first, count));
    }
    long medianNanos = lengths.stream().sorted().toList().get(lengths.size() / 2);
    int best = -1;
    int bestChanges = -1;
    for (int first = 0; first < lengths.size(); first++) {
      if (lengths.get(first) > LONGEST * medianNanos) {
        continue;
      }
      int changes = changes(turns, first, count);
      if (changes > bestChanges
          || (changes == bestChanges && lengths.get(first) < lengths.get(best))) {
        best = first;
        bestChanges = changes;
      }
    }
    long fromNanos = turns.get(best).hold().fromNanos();
    long marginNanos = lengths.get(best) / 50;
    return new Window(
        Math.max(0, fromNanos - marginNanos), fromNanos + lengths.get(best) + marginNanos);
  }

  private static List<Turn> turns(List<HolderLane> lanes) {
    List<Turn> turns = new ArrayList<>();
    for (int lane = 0; lane < lanes.size(); lane++) {
      for (Hold hold : lanes.get(lane).holds()) {
        turns.add(new Turn(lane, hold));
      }
    }
    turns.sort(Comparator.comparingLong(turn -> turn.hold().fromNanos()));
    return turns;
  }

  private static long length(List<Turn> turns, int first, int count) {
    return turns.get(first + count - 1).hold().toNanos() - turns.get(first).hold().fromNanos();
  }

  /** Changes of lane, and as many points for each lane that takes part at all. */
  private static int changes(List<Turn> turns, int first, int count) {
    int changes = 0;
    Set<Integer> lanes = new HashSet<>();
    for (int i = first; i < first + count; i++) {
      lanes.add(turns.get(i).lane());
      if (i > first && turns.get(i).lane() != turns.get(i - 1).lane()) {
        changes++;
      }
    }
    return changes + count * lanes.size();
  }
}
