package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Observed;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.report.Results;
import dev.redlock.bench.system.Peer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The settings and results that the scenarios share: durations, systems and figures. */
public final class Run {
  private final boolean quick;
  private final Set<Peer> wanted;
  private final Results results;
  private final Consumer<String> log;
  private final Map<String, Long> failed = new HashMap<>();

  /**
   * @param quick whether all scenarios together take about a quarter of an hour
   */
  public Run(boolean quick, Set<Peer> wanted, Results results, Consumer<String> log) {
    this.quick = quick;
    this.wanted = Set.copyOf(wanted);
    this.results = results;
    this.log = log;
  }

  boolean quick() {
    return quick;
  }

  Results results() {
    return results;
  }

  void say(String text) {
    log.accept(text);
  }

  Duration time(long quickMillis, long fullMillis) {
    return Duration.ofMillis(quick ? quickMillis : fullMillis);
  }

  int times(int inQuick, int inFull) {
    return quick ? inQuick : inFull;
  }

  /** The peers that are selected and can be measured on this machine. */
  List<Peer> present(Peer... peers) {
    List<Peer> present = new ArrayList<>();
    for (Peer peer : peers) {
      if (wanted.contains(peer)) {
        Optional<String> why = peer.whyAbsent();
        why.ifPresentOrElse(
            text -> results.remark(peer.label() + " was skipped: " + text),
            () -> present.add(peer));
      }
    }
    return present;
  }

  /** All peers that can be measured on this machine, except fair mode, which waits for more. */
  List<Peer> presentUnfair() {
    return present(
        Stream.of(Peer.values()).filter(peer -> peer != Peer.REDLOCK_FAIR).toArray(Peer[]::new));
  }

  /**
   * Rotates the order for each repeat, so that no system always runs after the same other system.
   */
  static <T> List<T> rotated(List<T> all, int by) {
    List<T> turned = new ArrayList<>(all);
    Collections.rotate(turned, by);
    return turned;
  }

  void add(String scenario, Peer peer, String metric, String unit, double value) {
    results.add(scenario, peer.label(), metric, unit, value);
  }

  /** Adds the median and the tail of a histogram, in µs. */
  void percentiles(String scenario, Peer peer, String prefix, Histogram nanos) {
    percentiles(scenario, peer.label(), prefix, nanos);
  }

  void percentiles(String scenario, String system, String prefix, Histogram nanos) {
    if (nanos.getTotalCount() > 0) {
      results.add(scenario, system, prefix + "p50", "µs", nanos.getValueAtPercentile(50) / 1e3);
      results.add(scenario, system, prefix + "p99", "µs", nanos.getValueAtPercentile(99) / 1e3);
    }
  }

  /** Adds the figures of several callers that lock one name. */
  void sections(String scenario, String system, Slice slice, Commands used) {
    double sections = Math.max(1, slice.pairs());
    results.add(scenario, system, "sections/s", "1/s", slice.rate());
    results.add(scenario, system, "commands/section", "", used.sent() / sections);
    results.add(scenario, system, "executed/section", "", used.executed() / sections);
    if (slice.perWorker().size() > 1) {
      results.add(scenario, system, "least-share", "", slice.leastShare());
      results.add(scenario, system, "most-share", "", slice.mostShare());
    }
    complain(scenario, system, slice);
  }

  /** Reports overlaps and failures in the log and in the report. */
  void complain(String scenario, Peer peer, Slice slice) {
    complain(scenario, peer.label(), slice);
  }

  void complain(String scenario, String system, Slice slice) {
    complain(scenario, system, slice.overlaps(), slice.failures(), slice.firstFailure());
  }

  void complain(String scenario, String system, long overlaps, Observed observed) {
    complain(scenario, system, overlaps, observed.failures(), observed.firstFailure());
  }

  private void complain(
      String scenario, String system, long overlaps, long failures, @Nullable String last) {
    String who = scenario + " " + system;
    long sum = failed.merge(who, failures, Long::sum);
    if (overlaps > 0) {
      results.remark(who + ": two callers held one lock at the same time, " + overlaps + " times");
    }
    if (failures > 0) {
      results.remark(who, who + ": " + sum + " attempts failed, the last ones with " + last);
    }
  }
}
