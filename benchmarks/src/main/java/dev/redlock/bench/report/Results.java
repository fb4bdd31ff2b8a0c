package dev.redlock.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.HdrHistogram.Histogram;

/** All figures of a run, each with its repeats. Not safe for use by several threads. */
public final class Results {

  /** Lower is better, higher is better, or neither. */
  private static final Set<String> SCRIPTED =
      Set.of(
          "p50",
          "p99",
          "pairs/s",
          "sections/s",
          "commands/section",
          "executed/section",
          "commands/pair",
          "hand-over-p50",
          "hand-over-p99",
          "wait-p99",
          "least-share",
          "bytes/pair",
          "cpu/pair",
          "drain/s",
          "settle-p50",
          "settle-p99",
          "acquire-p50",
          "acquire-p99.5",
          "acquire-p95",
          "hand-over-p95",
          "collide-2-p50",
          "collide-5-p50",
          "section",
          "executed/grant");

  /** A picture of lines: one line per system, and a logarithmic scale on both axes. */
  public record Chart(String scenario, String metric, String across, String unit) {}

  /** One point of a line. */
  public record Point(double x, double y) {}

  /** The scenario, the system and the metric of a figure. */
  public record Key(String scenario, String system, String metric) {}

  /** A figure: the median of its repeats, and their spread. */
  public record Figure(Key key, String unit, List<Double> repeats) {
    /** The median: the middle repeat, or the mean of the two middle ones. */
    public double value() {
      return median(repeats);
    }

    /**
     * The distance from the smallest to the largest repeat, as a fraction of the value; 0 with one
     * repeat.
     */
    public double spread() {
      double least = repeats.stream().min(Double::compare).orElse(0.0);
      double most = repeats.stream().max(Double::compare).orElse(0.0);
      return value() == 0 ? 0 : (most - least) / value();
    }
  }

  /** The figure of one system divided by that of another, in one run. */
  public record Ratio(String scenario, String metric, String system, double value) {
    /** The line that scripts parse. */
    public String line() {
      String digits = value < 0.1 ? "%.6f" : "%.3f";
      return "ratio %s %s redlock/%s ".formatted(scenario, metric, system)
          + String.format(Locale.ROOT, digits, value);
    }
  }

  private final Map<Key, Figure> figures = new LinkedHashMap<>();
  private final Map<String, Map<String, Histogram>> curves = new LinkedHashMap<>();
  private final Map<Chart, Map<String, List<Point>>> charts = new LinkedHashMap<>();
  private final Map<String, String> remarks = new LinkedHashMap<>();

  /** Adds one repeat of a figure. */
  public void add(String scenario, String system, String metric, String unit, double value) {
    Key key = new Key(scenario, system, metric);
    figures.computeIfAbsent(key, k -> new Figure(k, unit, new ArrayList<>())).repeats().add(value);
  }

  /** Adds latencies to the curve of a system, from which the percentiles are computed. */
  public void curve(String scenario, String system, Histogram nanos) {
    curves
        .computeIfAbsent(scenario, s -> new LinkedHashMap<>())
        .computeIfAbsent(system, s -> new Histogram(600_000_000_000L, 3))
        .add(nanos);
  }

  /** Adds a point to the line of a system, unless the value is not positive. */
  public void point(Chart chart, String system, double x, double y) {
    if (y > 0) {
      charts
          .computeIfAbsent(chart, c -> new LinkedHashMap<>())
          .computeIfAbsent(system, s -> new ArrayList<>())
          .add(new Point(x, y));
    }
  }

  /** The lines by system of each chart of a scenario. */
  Map<Chart, Map<String, List<Point>>> charts(String scenario) {
    Map<Chart, Map<String, List<Point>>> some = new LinkedHashMap<>(charts);
    some.keySet().removeIf(chart -> !chart.scenario().equals(scenario));
    return some;
  }

  /** Adds a remark for the reader of the figures. */
  public void remark(String text) {
    remark(text, text);
  }

  /** Adds a remark, and replaces an earlier one about the same subject. */
  public void remark(String about, String text) {
    remarks.put(about, text);
  }

  /** All remarks. */
  public List<String> remarks() {
    return List.copyOf(remarks.values());
  }

  /** All figures, in the order in which they were added. */
  public List<Figure> figures() {
    return List.copyOf(figures.values());
  }

  /** One figure, if it exists. */
  public Optional<Figure> figure(String scenario, String system, String metric) {
    return Optional.ofNullable(figures.get(new Key(scenario, system, metric)));
  }

  /** The scenarios that have figures. */
  public List<String> scenarios() {
    return distinct(figures.keySet().stream().map(Key::scenario).toList());
  }

  /** The systems that have figures in a scenario. */
  public List<String> systems(String scenario) {
    return distinct(
        figures.keySet().stream()
            .filter(key -> key.scenario().equals(scenario))
            .map(Key::system)
            .toList());
  }

  /** The metrics of a scenario. */
  public List<String> metrics(String scenario) {
    return distinct(
        figures.keySet().stream()
            .filter(key -> key.scenario().equals(scenario))
            .map(Key::metric)
            .toList());
  }

  /** The unit of a metric of a scenario; empty for plain numbers. */
  String unit(String scenario, String metric) {
    return figures.values().stream()
        .filter(f -> f.key().scenario().equals(scenario) && f.key().metric().equals(metric))
        .map(Figure::unit)
        .findFirst()
        .orElse("");
  }

  /** The latencies by system; empty if the scenario has none. */
  public Map<String, Histogram> curves(String scenario) {
    return curves.getOrDefault(scenario, Map.of());
  }

  /**
   * The ratios of this library to each other system. If both have the same number of repeats, each
   * repeat is compared with the one that ran next to it, so that a temporary load of the machine
   * affects both.
   */
  public List<Ratio> ratios() {
    List<Ratio> ratios = new ArrayList<>();
    for (Figure ours : figures.values()) {
      Key key = ours.key();
      if (!key.system().equals("redlock") || !SCRIPTED.contains(key.metric())) {
        continue;
      }
      for (String system : systems(key.scenario())) {
        Figure theirs = figures.get(new Key(key.scenario(), system, key.metric()));
        if (!system.equals("redlock") && theirs != null) {
          double value = ratio(ours.repeats(), theirs.repeats());
          if (Double.isFinite(value)) {
            ratios.add(new Ratio(key.scenario(), key.metric(), system, value));
          }
        }
      }
    }
    return ratios;
  }

  private static double ratio(List<Double> ours, List<Double> theirs) {
    if (ours.size() != theirs.size()) {
      return median(ours) / median(theirs);
    }
    List<Double> each = new ArrayList<>();
    for (int i = 0; i < ours.size(); i++) {
      each.add(ours.get(i) / theirs.get(i));
    }
    return median(each);
  }

  static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int n = sorted.size();
    if (n == 0) {
      return Double.NaN;
    }
    return n % 2 == 1 ? sorted.get(n / 2) : (sorted.get(n / 2 - 1) + sorted.get(n / 2)) / 2;
  }

  private static List<String> distinct(List<String> all) {
    return List.copyOf(new LinkedHashSet<>(all));
  }
}
