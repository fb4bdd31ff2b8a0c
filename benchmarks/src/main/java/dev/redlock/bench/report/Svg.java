package dev.redlock.bench.report;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Two kinds of pictures, drawn by hand: no library, no script, no font that has to be fetched. */
final class Svg {
  private static final int WIDTH = 760;
  private static final int LEFT = 170;
  private static final int RIGHT = 90;
  private static final String[] COLOURS = {
    "#1b6ca8", "#5b5b5b", "#c0392b", "#d68910", "#7d3c98", "#1e8449", "#117a8b", "#8a5a44"
  };
  private static final double[] PERCENTILES = {
    1, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99
  };

  private Svg() {}

  /** A system's value, with the least and the greatest of its repeats. */
  record Bar(String label, double value, double least, double most) {}

  /**
   * One bar a system, on a logarithmic scale, with a line from the least to the greatest repeat.
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

  /** Latency by percentile; both scales logarithmic, the tail's side of the percentiles. */
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

  /** Not below a microsecond. */
  private static double log10(long nanos) {
    return Math.log10((double) Math.max(1000, nanos));
  }

  private static StringBuilder begin(String title, int height) {
    StringBuilder out = new StringBuilder();
    out.append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
            .formatted(WIDTH, height, WIDTH, height));
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

  /** 1 % lies at the left end, 99.99 % at the right; each nine has the same room. */
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
            "redlock-fair");
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
