package dev.redlock.bench.report;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/** Draws four kinds of pictures without a library, a script or an external font. */
final class Svg {
  /** In a reader's dark mode the background is dark, and colours that would be too dark are not. */
  private static final String DARK =
      """
      <style>
      @media (prefers-color-scheme: dark) {
        [fill="#fff"] { fill: #0d1117 }
        text, [fill="#222"] { fill: #e6edf3 }
        [fill="#666"] { fill: #9ea7b3 }
        [stroke="#ddd"], [stroke="#eee"] { stroke: #30363d }
        [stroke="#000"] { stroke: #e6edf3 }
        [fill="#1b6ca8"] { fill: #58a6ff }
        [stroke="#1b6ca8"] { stroke: #58a6ff }
        [fill="#5b5b5b"] { fill: #9a9a9a }
        [stroke="#5b5b5b"] { stroke: #9a9a9a }
        [fill="#7d3c98"] { fill: #b779d3 }
        [stroke="#7d3c98"] { stroke: #b779d3 }
      }
      </style>
      """;

  private static final int WIDTH = 760;
  private static final int LEFT = 170;
  private static final int RIGHT = 90;
  private static final String[] COLOURS = {
    "#1b6ca8", "#5b5b5b", "#c0392b", "#d68910", "#7d3c98", "#1e8449", "#117a8b", "#8a5a44",
    "#9a9a9a", "#4fa3d1", "#145a32", "#34495e"
  };
  private static final double[] PERCENTILES = {
    1, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99
  };

  private Svg() {}

  /** The value of a system, with its smallest and its largest repeat. */
  record Bar(String label, double value, double least, double most) {}

  /**
   * Draws one bar per system on a logarithmic scale, with a line from the smallest to the largest
   * repeat.
   */
  static String bars(String title, String unit, List<Bar> bars) {
    double least = bars.stream().mapToDouble(Bar::least).filter(v -> v > 0).min().orElse(1);
    double most = bars.stream().mapToDouble(Bar::most).max().orElse(1);
    double low = Math.floor(Math.log10(least) - 0.3);
    double high = Math.max(low + 1, Math.ceil(Math.log10(most)));
    int height = 60 + 26 * bars.size();
    StringBuilder out = begin(title + (unit.isEmpty() ? "" : " (" + unit + ")"), height);
    for (int decade = (int) low; decade <= high; decade++) {
      double x = x(decade, low, high);
      line(out, x, 34, x, height - 22, "#ddd");
      text(out, x, height - 8, "middle", "#666", power(decade));
    }
    for (int i = 0; i < bars.size(); i++) {
      Bar bar = bars.get(i);
      double y = 40 + 26.0 * i;
      double end = x(Math.log10(bar.value()), low, high);
      text(out, LEFT - 8, y + 13, "end", "#222", bar.label());
      out.append(
          "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"18\" fill=\"%s\"/>\n"
              .formatted(LEFT, y, Math.max(1, end - LEFT), colour(bar.label(), i)));
      line(
          out,
          x(Math.log10(Math.max(bar.least(), Math.pow(10, low))), low, high),
          y + 9,
          x(Math.log10(bar.most()), low, high),
          y + 9,
          "#000");
      double label = Math.max(end, x(Math.log10(bar.most()), low, high)) + 6;
      text(out, label, y + 13, "start", "#222", Numbers.of(bar.value()));
    }
    return out.append("</svg>").toString();
  }

  /** A bar that consists of parts, from left to right. */
  record Stack(String label, List<Double> parts) {}

  /** Draws bars that consist of these parts, on a linear scale. Negative parts count as zero. */
  static String stacks(String title, String unit, List<String> parts, List<Stack> stacks) {
    double most =
        stacks.stream()
            .mapToDouble(s -> s.parts().stream().mapToDouble(v -> Math.max(0, v)).sum())
            .max()
            .orElse(1);
    int height = 70 + 30 * stacks.size();
    StringBuilder out = begin(title + " (" + unit + ")", height);
    double scale = (WIDTH - LEFT - RIGHT) / most;
    for (int i = 0; i < stacks.size(); i++) {
      double y = 40 + 30.0 * i;
      double x = LEFT;
      text(out, LEFT - 8, y + 15, "end", "#222", stacks.get(i).label());
      for (int p = 0; p < parts.size(); p++) {
        double value = Math.max(0, stacks.get(i).parts().get(p));
        out.append(
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"22\" fill=\"%s\"/>\n"
                .formatted(x, y, value * scale, COLOURS[p]));
        if (value * scale > 26) {
          text(out, x + value * scale / 2, y + 15, "middle", "#fff", Numbers.of(value));
        }
        x += value * scale;
      }
      text(out, x + 6, y + 15, "start", "#222", Numbers.of((x - LEFT) / scale));
    }
    for (int p = 0; p < parts.size(); p++) {
      double x = LEFT + 130.0 * p;
      out.append(
          "<rect x=\"%.1f\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n"
              .formatted(x, height - 24, COLOURS[p]));
      text(out, x + 18, height - 14.0, "start", "#222", parts.get(p));
    }
    return out.append("</svg>").toString();
  }

  /**
   * Draws latency by percentile. Both scales are logarithmic; the percentile scale is stretched
   * towards 100 %.
   */
  static String curves(String title, Map<String, Histogram> curves) {
    double low =
        curves.values().stream().mapToDouble(h -> log10(h.getValueAtPercentile(1))).min().orElse(3);
    double high =
        curves.values().stream()
            .mapToDouble(h -> log10(h.getValueAtPercentile(99.99)) + 0.1)
            .max()
            .orElse(9);
    low = Math.floor(low);
    high = Math.ceil(high);
    int height = 320 + 18 * curves.size();
    StringBuilder out = begin(title, height);
    for (int decade = (int) low; decade <= high; decade++) {
      double y = y(decade, low, high);
      line(out, LEFT, y, WIDTH - RIGHT, y, "#ddd");
      text(out, LEFT - 8, y + 4, "end", "#666", duration(decade));
    }
    for (double percentile : new double[] {10, 50, 90, 99, 99.9, 99.99}) {
      double x = tail(percentile);
      line(out, x, 40, x, 270, "#eee");
      text(
          out,
          x,
          288,
          "middle",
          "#666",
          percentile == (int) percentile ? (int) percentile + " %" : percentile + " %");
    }
    int i = 0;
    for (Map.Entry<String, Histogram> curve : curves.entrySet()) {
      StringBuilder points = new StringBuilder();
      Histogram histogram = curve.getValue();
      for (double percentile : PERCENTILES) {
        if (histogram.getTotalCount() * (100 - percentile) / 100 >= 1) {
          double value = log10(histogram.getValueAtPercentile(percentile));
          points.append("%.1f,%.1f ".formatted(tail(percentile), y(value, low, high)));
        }
      }
      String colour = colour(curve.getKey(), i);
      out.append(
          "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n"
              .formatted(points.toString().strip(), colour));
      double y = 312 + 18.0 * i;
      line(out, LEFT, y - 4, LEFT + 24, y - 4, colour);
      text(
          out,
          LEFT + 32,
          y,
          "start",
          "#222",
          curve.getKey() + ", " + histogram.getTotalCount() + " pairs");
      i++;
    }
    return out.append("</svg>").toString();
  }

  /** Draws one line per system. Both scales are logarithmic. */
  static String lines(Results.Chart chart, Map<String, List<Results.Point>> lines) {
    List<Results.Point> all = lines.values().stream().flatMap(List::stream).toList();
    Scale across = Scale.of(all.stream().mapToDouble(Results.Point::x).toArray());
    Scale up = Scale.of(all.stream().mapToDouble(Results.Point::y).toArray());
    StringBuilder out =
        begin(
            chart.scenario() + ": " + chart.metric() + " (" + chart.unit() + ")",
            336 + 18 * lines.size());
    for (double tick : up.ticks()) {
      double y = 270 - up.at(tick) * 230;
      line(out, LEFT, y, WIDTH - RIGHT, y, "#ddd");
      text(out, LEFT - 8, y + 4, "end", "#666", plain(tick));
    }
    for (double tick : all.stream().mapToDouble(Results.Point::x).distinct().toArray()) {
      double x = LEFT + across.at(tick) * (WIDTH - LEFT - RIGHT);
      line(out, x, 40, x, 270, "#eee");
      text(out, x, 288, "middle", "#666", plain(tick));
    }
    text(out, WIDTH - RIGHT, 306, "end", "#666", chart.across());
    int i = 0;
    for (Map.Entry<String, List<Results.Point>> system : lines.entrySet()) {
      String colour = colour(system.getKey(), i);
      StringBuilder points = new StringBuilder();
      for (Results.Point point : system.getValue()) {
        double x = LEFT + across.at(point.x()) * (WIDTH - LEFT - RIGHT);
        double y = 270 - up.at(point.y()) * 230;
        points.append("%.1f,%.1f ".formatted(x, y));
        out.append(
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n".formatted(x, y, colour));
        text(out, x + 5, y - 5, "start", colour, Numbers.of(point.y()));
      }
      out.append(
          "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n"
              .formatted(points.toString().strip(), colour));
      double y = 328 + 18.0 * i;
      line(out, LEFT, y - 4, LEFT + 24, y - 4, colour);
      text(out, LEFT + 32, y, "start", "#222", system.getKey());
      i++;
    }
    return out.append("</svg>").toString();
  }

  /** A logarithmic scale from 0 to 1. */
  private record Scale(double low, double high) {
    static Scale of(double[] values) {
      double least = Math.log10(DoubleStream.of(values).min().orElse(1));
      double most = Math.log10(DoubleStream.of(values).max().orElse(10));
      // Not less than a factor of ten, so that a flat line looks flat.
      double room = Math.max(0, 1 - (most - least)) / 2;
      return new Scale(least - room, most + room);
    }

    double at(double value) {
      return (Math.log10(value) - low) / (high - low);
    }

    /** 1, 2, 5, 10 and so on; in a wide range the powers of ten. */
    double[] ticks() {
      double[] steps = high - low > 2.5 ? new double[] {1} : new double[] {1, 2, 5};
      return IntStream.rangeClosed((int) Math.floor(low), (int) Math.ceil(high))
          .boxed()
          .flatMapToDouble(
              decade -> DoubleStream.of(steps).map(step -> step * Math.pow(10, decade)))
          .filter(tick -> at(tick) >= -0.001 && at(tick) <= 1.001)
          .toArray();
    }
  }

  private static String plain(double value) {
    return value >= 1
        ? String.format(Locale.ROOT, "%,d", Math.round(value))
        : String.format(Locale.ROOT, "%.2g", value);
  }

  /** Values below 1 µs are drawn as 1 µs. */
  private static double log10(long nanos) {
    return Math.log10((double) Math.max(1000, nanos));
  }

  private static StringBuilder begin(String title, int height) {
    StringBuilder out = new StringBuilder();
    out.append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
            .formatted(WIDTH, height, WIDTH, height));
    out.append(DARK);
    out.append("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    out.append(
        "<text x=\"8\" y=\"20\" font-size=\"14\" font-weight=\"bold\">%s</text>\n"
            .formatted(escape(title)));
    return out;
  }

  private static double x(double log, double low, double high) {
    return LEFT + (log - low) / (high - low) * (WIDTH - LEFT - RIGHT);
  }

  private static double y(double log, double low, double high) {
    return 270 - (log - low) / (high - low) * 230;
  }

  /** 1 % is at the left end and 99.99 % at the right; each additional nine has the same width. */
  private static double tail(double percentile) {
    double nines = -Math.log10(1 - percentile / 100);
    return LEFT + nines / 4 * (WIDTH - LEFT - RIGHT);
  }

  private static String colour(String system, int index) {
    List<String> known =
        List.of(
            "redlock",
            "floor",
            "redisson-redlock",
            "redisson-multilock",
            "redisson-rlock",
            "spring-lockregistry",
            "node-redlock",
            "redlock-fair",
            "bare",
            "redlock-metered",
            "redlock-majority",
            "floor-majority");
    int at = known.indexOf(system);
    return COLOURS[(at >= 0 ? at : index) % COLOURS.length];
  }

  private static String power(int decade) {
    if (decade >= 0 && decade <= 6) {
      return String.format(Locale.ROOT, "%,d", (long) Math.pow(10, decade));
    }
    return "1e" + decade;
  }

  private static String duration(int decade) {
    long unit = (long) Math.pow(10, decade % 3);
    return unit + (decade < 6 ? " µs" : decade < 9 ? " ms" : " s");
  }

  private static void line(
      StringBuilder out, double x1, double y1, double x2, double y2, String c) {
    out.append(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n"
            .formatted(x1, y1, x2, y2, c));
  }

  private static void text(
      StringBuilder out, double x, double y, String anchor, String colour, String text) {
    out.append(
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n"
            .formatted(x, y, anchor, colour, escape(text)));
  }

  static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
