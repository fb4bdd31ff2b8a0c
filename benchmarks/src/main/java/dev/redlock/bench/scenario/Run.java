package dev.redlock.bench.scenario;

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

/** What scenarios share: how long they may take, who takes part, where figures go. */
public final class Run {
  private final boolean quick;
  private final Set<Peer> wanted;
  private final Results results;
  private final Consumer<String> log;
  private final Map<String, Long> failed = new HashMap<>();

  /**
   * @param quick all scenarios together within four minutes
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

  /** Those of them that are wanted and can be measured here. */
  List<Peer> present(Peer... peers) {
    List<Peer> present = new ArrayList<>();
    for (Peer peer : peers) {
      if (wanted.contains(peer)) {
        Optional<String> why = peer.whyAbsent();
        why.ifPresentOrElse(
            text -> results.remark(peer.label() + " was left out: " + text),
            () -> present.add(peer));
      }
    }
    return present;
  }

  /** All that can be measured here, but fair mode, which waits for more. */
  List<Peer> presentUnfair() {
    return present(
        Stream.of(Peer.values()).filter(peer -> peer != Peer.REDLOCK_FAIR).toArray(Peer[]::new));
  }

  /** The same in another order each repeat, so that nobody always comes after the same other. */
  static <T> List<T> rotated(List<T> all, int by) {
    List<T> turned = new ArrayList<>(all);
    Collections.rotate(turned, by);
    return turned;
  }

  void add(String scenario, Peer peer, String metric, String unit, double value) {
    results.add(scenario, peer.label(), metric, unit, value);
  }

  /** Median and tail of something in microseconds. */
  void percentiles(String scenario, Peer peer, String prefix, Histogram nanos) {
    percentiles(scenario, peer.label(), prefix, nanos);
  }

  void percentiles(String scenario, String system, String prefix, Histogram nanos) {
    if (nanos.getTotalCount() > 0) {
      results.add(scenario, system, prefix + "p50", "µs", nanos.getValueAtPercentile(50) / 1e3);
      results.add(scenario, system, prefix + "p99", "µs", nanos.getValueAtPercentile(99) / 1e3);
    }
  }

  /** What there is to tell of several that want one name. */
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

  /** What should not be: said aloud, and in the report. */
  void complain(String scenario, Peer peer, Slice slice) {
    complain(scenario, peer.label(), slice);
  }

  void complain(String scenario, String system, Slice slice) {
    String who = scenario + " " + system;
    long sum = failed.merge(who, slice.failures(), Long::sum);
    if (slice.overlaps() > 0) {
      results.remark(who + ": two callers held one lock at once, " + slice.overlaps() + " times");
    }
    if (slice.failures() > 0) {
      results.remark(
          who, who + ": " + sum + " attempts failed, the last ones with " + slice.firstFailure());
    }
  }
}
