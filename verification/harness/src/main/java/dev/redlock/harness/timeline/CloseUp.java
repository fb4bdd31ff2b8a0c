package dev.redlock.harness.timeline;

import dev.redlock.harness.timeline.Timeline.Hold;
import dev.redlock.harness.timeline.Timeline.HolderLane;
import dev.redlock.harness.timeline.Timeline.Window;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the stretch to magnify. Thousands of holds in one picture are a grey strip, so the page
 * shows a few of them one by one.
 */
public final class CloseUp {
  /** How many times longer than the median stretch the chosen one may be, at most. */
  private static final int LONGEST = 2;

  private CloseUp() {}

  private record Turn(int lane, Hold hold) {}

  /**
   * Returns the stretch of {@code count} consecutive holds with the most changes between lanes; of
   * equal stretches the shortest. Null if there are fewer than {@code count} holds.
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

  /** The number of changes between lanes, plus the same number for each lane that takes part. */
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
