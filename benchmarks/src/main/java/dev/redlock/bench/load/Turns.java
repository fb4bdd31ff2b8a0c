package dev.redlock.bench.load;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.HdrHistogram.Histogram;

/** The sections of callers that lock one name, in the order of their grants. */
public final class Turns {
  private final List<Section> sections;
  private final int first;
  private final int end;

  private Turns(List<Section> sections, int first, int end) {
    this.sections = sections;
    this.first = first;
    this.end = end;
  }

  /** All these sections. */
  public static Turns of(List<Section> sections) {
    return between(sections, Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /**
   * The sections that were granted within this time. The later ones have one purpose: they show
   * which callers waited.
   */
  public static Turns between(List<Section> sections, long fromNanos, long untilNanos) {
    List<Section> sorted = new ArrayList<>(sections);
    sorted.sort(Comparator.comparingLong(Section::grantedNanos));
    int first = 0;
    while (first < sorted.size() && sorted.get(first).grantedNanos() < fromNanos) {
      first++;
    }
    int end = first;
    while (end < sorted.size() && sorted.get(end).grantedNanos() < untilNanos) {
      end++;
    }
    return new Turns(sorted, first, end);
  }

  /** The number of grants. */
  public int grants() {
    return end - first;
  }

  /** The mean time from grant to grant, in nanoseconds; 0 with fewer than two grants. */
  public double meanInterval() {
    return grants() < 2
        ? 0
        : (double) (sections.get(end - 1).grantedNanos() - sections.get(first).grantedNanos())
            / (grants() - 1);
  }

  /** From the start of a release to the next grant, in nanoseconds. */
  public Histogram handOvers() {
    Histogram gaps = Drive.histogram();
    for (int i = first + 1; i < end; i++) {
      gaps.recordValue(Math.max(0, gap(i)));
    }
    return gaps;
  }

  /** The duration of acquire, in nanoseconds. */
  public Histogram waits() {
    Histogram waits = Drive.histogram();
    for (Section section : sections.subList(first, end)) {
      waits.recordValue(section.grantedNanos() - section.askedNanos());
    }
    return waits;
  }

  /** How often two callers held the name at the same time. */
  public long overlaps() {
    long overlaps = 0;
    for (int i = first + 1; i < end; i++) {
      overlaps += gap(i) < 0 ? 1 : 0;
    }
    return overlaps;
  }

  private long gap(int i) {
    return sections.get(i).grantedNanos() - sections.get(i - 1).releasingNanos();
  }

  /** The grants of each caller. */
  public List<Long> perCaller(int callers) {
    long[] counts = new long[callers];
    for (Section section : sections.subList(first, end)) {
      counts[section.caller()]++;
    }
    List<Long> all = new ArrayList<>();
    for (long count : counts) {
      all.add(count);
    }
    return all;
  }

  /**
   * The number of grants at which another caller waited that had asked earlier, by at least the
   * tolerance: callers that ask at nearly the same time may reach the nodes in another order.
   */
  public long overtakings(long toleranceNanos) {
    long overtakings = 0;
    long earliest = Long.MAX_VALUE; // Of the requests that were granted later.
    for (int i = sections.size() - 1; i >= first; i--) {
      long asked = sections.get(i).askedNanos();
      if (i < end && earliest != Long.MAX_VALUE && earliest + toleranceNanos <= asked) {
        overtakings++;
      }
      earliest = Math.min(earliest, asked);
    }
    return overtakings;
  }
}
