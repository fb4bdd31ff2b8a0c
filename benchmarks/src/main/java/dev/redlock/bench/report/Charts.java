package dev.redlock.bench.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/** Draws three kinds of pictures without a library, a script or an external font. */
final class Charts {
  /** In a reader's dark mode the background is dark, and colours that would be too dark are not. */
  private static final String DARK =
      """
      <style>
      @media (prefers-color-scheme: dark) {
        [fill="#fff"] { fill: #0d1117 }
        text:not([fill]), [fill="#222"] { fill: #e6edf3 }
        [fill="#666"] { fill: #9ea7b3 }
        [stroke="#ddd"], [stroke="#eee"] { stroke: #30363d }
        [stroke="#000"] { stroke: #e6edf3 }
        [fill="#1b6ca8"] { fill: #58a6ff }
        [stroke="#1b6ca8"] { stroke: #58a6ff }
        [fill="#5b5b5b"] { fill: #d0d7de }
        [stroke="#5b5b5b"] { stroke: #d0d7de }
        [fill="#7d3c98"] { fill: #b779d3 }
        [stroke="#7d3c98"] { stroke: #b779d3 }
        [fill="#c0392b"] { fill: #f0675a }
        [stroke="#c0392b"] { stroke: #f0675a }
        [fill="#117a8b"] { fill: #2bb3c7 }
        [stroke="#117a8b"] { stroke: #2bb3c7 }
        [fill="#8a5a44"] { fill: #c98d70 }
        [stroke="#8a5a44"] { stroke: #c98d70 }
      }
      </style>
      """;

  private static final int WIDTH = 760;
  private static final int LEFT = 170;
  private static final int RIGHT = 90;
  private static final String[] COLOURS = {
    "#1b6ca8", "#5b5b5b", "#c0392b", "#d68910", "#7d3c98", "#1e8449", "#117a8b", "#8a5a44",
    "#9a9a9a", "#4fa3d1", "#145a32", "#34495e", "#c2528b"
  };
  private static final double[] PERCENTILES = {
    1, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99
  };

  private Charts() {}

  /** The value of a system, with its smallest and its largest repeat. */
  record Bar(String label, double value, double least, double most) {}

  /**
   * Draws one bar per system, with a line from the smallest to the largest repeat. The bars begin
   * at zero, unless the shortest could not be seen beside the longest: then the scale is
   * logarithmic, and the title says so.
   */
  static String bars(String title, String unit, List<Bar> bars) {
    double least = bars.stream().mapToDouble(Bar::value).min().orElse(1);
    double most = bars.stream().mapToDouble(Bar::most).max().orElse(1);
    Scale scale = most < 50 * least ? Scale.fromZero(most) : Scale.decades(least / 2, most);
    String mark = scale.linear() ? unit : unit.isEmpty() ? "logarithmic" : unit + ", logarithmic";
    int height = 60 + 26 * bars.size();
    StringBuilder out = begin(title + (mark.isEmpty() ? "" : " (" + mark + ")"), height);
    for (double tick : scale.ticks()) {
      line(out, scale.x(tick), 34, scale.x(tick), height - 22, "#ddd");
      text(out, scale.x(tick), height - 8, "middle", "#666", plain(tick));
    }
    for (int i = 0; i < bars.size(); i++) {
      Bar bar = bars.get(i);
      double y = 40 + 26.0 * i;
      double end = scale.x(bar.most());
      text(out, LEFT - 8, y + 13, "end", "#222", bar.label());
      rect(out, LEFT, y, Math.max(1, scale.x(bar.value()) - LEFT), 18, colour(bar.label(), i));
      line(out, Math.max(LEFT, scale.x(bar.least())), y + 9, end, y + 9, "#000");
      text(out, end + 6, y + 13, "start", "#222", Numbers.of(bar.value()));
    }
    return out.append("</svg>").toString();
  }

  /**
   * Draws latency by percentile. Both scales are logarithmic; the percentile scale is stretched
   * towards 100 %.
   */
  static String curves(String title, Map<String, Histogram> curves) {
    Scale up =
        Scale.decades(
            curves.values().stream().mapToDouble(h -> at(h, 1)).min().orElse(1e3),
            curves.values().stream().mapToDouble(h -> 1.25 * at(h, 99.99)).max().orElse(1e9));
    StringBuilder out = begin(title + " (both scales logarithmic)", 320 + 18 * curves.size());
    axis(out, up, Charts::duration);
    for (double percentile : new double[] {50, 90, 99, 99.9, 99.99}) {
      line(out, tail(percentile), 40, tail(percentile), 270, "#eee");
      String label = (percentile % 1 == 0 ? plain(percentile) : percentile) + " %";
      text(out, tail(percentile), 288, "middle", "#666", label);
    }
    int i = 0;
    for (Map.Entry<String, Histogram> curve : curves.entrySet()) {
      StringBuilder points = new StringBuilder();
      Histogram histogram = curve.getValue();
      for (double percentile : PERCENTILES) {
        if (histogram.getTotalCount() * (100 - percentile) / 100 >= 1) {
          points.append("%.1f,%.1f ".formatted(tail(percentile), up.y(at(histogram, percentile))));
        }
      }
      String legend =
          String.format(Locale.ROOT, "%s, %,d pairs", curve.getKey(), histogram.getTotalCount());
      polyline(out, points, colour(curve.getKey(), i), 312 + 18.0 * i, legend);
      i++;
    }
    return out.append("</svg>").toString();
  }

  /** Draws one line per system. Both scales are logarithmic. */
  static String lines(Results.Chart chart, Map<String, List<Results.Point>> lines) {
    List<Results.Point> all = lines.values().stream().flatMap(List::stream).toList();
    Scale across = Scale.of(all.stream().mapToDouble(Results.Point::x).toArray());
    Scale up = Scale.of(all.stream().mapToDouble(Results.Point::y).toArray());
    String title = chart.scenario() + ": " + chart.metric() + " (" + chart.unit();
    StringBuilder out = begin(title + ", both scales logarithmic)", 336 + 18 * lines.size());
    axis(out, up, Charts::plain);
    for (double tick : all.stream().mapToDouble(Results.Point::x).distinct().toArray()) {
      line(out, across.x(tick), 40, across.x(tick), 270, "#eee");
      text(out, across.x(tick), 288, "middle", "#666", plain(tick));
    }
    text(out, WIDTH - RIGHT, 306, "end", "#666", chart.across());
    List<Label> labels = new ArrayList<>();
    int i = 0;
    for (Map.Entry<String, List<Results.Point>> system : lines.entrySet()) {
      String colour = colour(system.getKey(), i);
      StringBuilder points = new StringBuilder();
      for (Results.Point point : system.getValue()) {
        double x = across.x(point.x());
        double y = up.y(point.y());
        points.append("%.1f,%.1f ".formatted(x, y));
        out.append(
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n".formatted(x, y, colour));
        labels.add(new Label(x, y, colour, Numbers.of(point.y())));
      }
      polyline(out, points, colour, 328 + 18.0 * i, system.getKey());
      i++;
    }
    // From the bottom up, each above the one below it.
    labels.sort(Comparator.comparing(Label::x).thenComparing(Label::y, Comparator.reverseOrder()));
    double above = 0;
    for (i = 0; i < labels.size(); i++) {
      Label label = labels.get(i);
      boolean first = i == 0 || labels.get(i - 1).x() != label.x();
      above = first ? label.y() - 5 : Math.min(label.y() - 5, above - 11);
      text(out, label.x() + 5, above, "start", label.colour(), label.text());
    }
    return out.append("</svg>").toString();
  }

  /** The figure beside a point. */
  private record Label(double x, double y, String colour, String text) {}

  /** A scale from low to high: of values if linear, otherwise of their logarithms. */
  private record Scale(double low, double high, boolean linear) {
    static Scale of(double[] values) {
      double least = Math.log10(DoubleStream.of(values).min().orElse(1));
      double most = Math.log10(DoubleStream.of(values).max().orElse(10));
      // Not less than a factor of ten, so that a flat line looks flat.
      double room = Math.max(0, 1 - (most - least)) / 2;
      return new Scale(least - room, most + room, false);
    }

    static Scale fromZero(double most) {
      return new Scale(0, most, true);
    }

    /** Whole powers of ten. */
    static Scale decades(double least, double most) {
      return new Scale(Math.floor(Math.log10(least)), Math.ceil(Math.log10(most)), false);
    }

    /** From 0 to 1. */
    double at(double value) {
      return ((linear ? value : Math.log10(value)) - low) / (high - low);
    }

    double x(double value) {
      return LEFT + at(value) * (WIDTH - LEFT - RIGHT);
    }

    double y(double value) {
      return 270 - at(value) * 230;
    }

    /**
     * 1, 2, 5, 10 and so on, in a wide range the powers of ten; if linear, equal steps from zero.
     */
    double[] ticks() {
      if (linear) {
        double power = Math.pow(10, Math.floor(Math.log10(high)));
        double step = power * (high < 2 * power ? 0.2 : high < 5 * power ? 0.5 : 1);
        return IntStream.rangeClosed(0, (int) (high / step)).mapToDouble(n -> n * step).toArray();
      }
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
    return String.format(Locale.ROOT, value % 1 == 0 ? "%,.0f" : "%.2g", value);
  }

  /** Values below 1 µs are drawn as 1 µs. */
  private static double at(Histogram nanos, double percentile) {
    return Math.max(1000, nanos.getValueAtPercentile(percentile));
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
            "floor-majority",
            "healthy");
    int at = known.indexOf(system);
    return COLOURS[(at >= 0 ? at : index) % COLOURS.length];
  }

  private static String duration(double nanos) {
    int unit = nanos < 1e6 ? 3 : nanos < 1e9 ? 6 : 9;
    return plain(nanos / Math.pow(10, unit)) + (unit == 3 ? " µs" : unit == 6 ? " ms" : " s");
  }

  /** Draws a vertical axis with its lines. */
  private static void axis(StringBuilder out, Scale up, DoubleFunction<String> label) {
    for (double tick : up.ticks()) {
      line(out, LEFT, up.y(tick), WIDTH - RIGHT, up.y(tick), "#ddd");
      text(out, LEFT - 8, up.y(tick) + 4, "end", "#666", label.apply(tick));
    }
  }

  /** Draws a line through the points, and its legend, which has the same width and colour. */
  private static void polyline(
      StringBuilder out, StringBuilder points, String colour, double y, String legend) {
    out.append(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n"
            .formatted(points.toString().strip(), colour));
    rect(out, LEFT, y - 5, 24, 2, colour);
    text(out, LEFT + 32, y, "start", "#222", legend);
  }

  private static void rect(
      StringBuilder out, double x, double y, double width, int height, String colour) {
    out.append(
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n"
            .formatted(x, y, width, height, colour));
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
