package dev.redlock.simulation;

import java.util.Arrays;

/** Future events, ordered by time; a tie-break from the seed orders events at the same time. */
final class Agenda {
  private long[] at = new long[256];
  private long[] tie = new long[256];
  private Runnable[] what = new Runnable[256];
  private int size;

  int size() {
    return size;
  }

  void add(long time, long tieBreak, Runnable action) {
    if (size == at.length) {
      at = Arrays.copyOf(at, 2 * size);
      tie = Arrays.copyOf(tie, 2 * size);
      what = Arrays.copyOf(what, 2 * size);
    }
    int i = size++;
    while (i > 0) {
      int parent = (i - 1) >> 1;
      if (!before(time, tieBreak, parent)) {
        break;
      }
      at[i] = at[parent];
      tie[i] = tie[parent];
      what[i] = what[parent];
      i = parent;
    }
    at[i] = time;
    tie[i] = tieBreak;
    what[i] = action;
  }

  private boolean before(long time, long tieBreak, int i) {
    return time < at[i] || (time == at[i] && tieBreak < tie[i]);
  }

  long nextTime() {
    return at[0];
  }

  Runnable take() {
    Runnable first = what[0];
    int last = --size;
    long time = at[last];
    long tieBreak = tie[last];
    Runnable action = what[last];
    what[last] = null;
    int i = 0;
    while (true) {
      int child = 2 * i + 1;
      if (child >= last) {
        break;
      }
      int right = child + 1;
      if (right < last && before(at[right], tie[right], child)) {
        child = right;
      }
      if (before(time, tieBreak, child)) {
        break;
      }
      at[i] = at[child];
      tie[i] = tie[child];
      what[i] = what[child];
      i = child;
    }
    if (last > 0) {
      at[i] = time;
      tie[i] = tieBreak;
      what[i] = action;
    }
    return first;
  }
}
