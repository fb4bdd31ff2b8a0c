package dev.redlock.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;

/** The figures as an HTML page: bars, curves and tables. */
public final class HtmlReport {
  private static final Set<String> SHOWN =
      Set.of(
          "uncontended.p50",
          "uncontended.percentiles",
          "throughput.pairs/s",
          "contended-local.sections/s",
          "contended-processes.sections/s",
          "contended-processes.percentiles",
          "hung.p50",
          "distance.acquire",
          "distance.hand-over",
          "crowd.executed-per-grant",
          "crowd.hand-over");

  private final Results results;
  private final String machine;

  /** Creates a report of these results, measured on this machine. */
  public HtmlReport(Results results, String machine) {
    this.results = results;
    this.machine = machine;
  }

  /** Returns the whole page, without external references. */
  public String page() {
    StringBuilder out =
        new StringBuilder(
            """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>Redlock compared with others</title>
            <style>
            body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }
            pre { overflow-x: auto; background: #f4f4f2; padding: 1em; font-size: 12px; }
            svg { max-width: 100%; height: auto; display: block; margin: 1em 0; }
            </style></head><body>
            <h1>Side by side</h1>
            """);
    out.append("<p>").append(Charts.escape(machine)).append("</p>\n");
    out.append("<p>± is half the distance between the smallest and the largest repeat.</p>\n");
    results.remarks().forEach(r -> out.append("<p>Note: ").append(Charts.escape(r)).append("</p>\n"));
    Map<String, String> pictures = pictures();
    for (String scenario : results.scenarios()) {
      out.append("<h2>").append(Charts.escape(scenario)).append("</h2>\n");
      pictures.forEach(
          (name, svg) -> {
            if (name.startsWith(scenario + ".")) {
              out.append(svg).append('\n');
            }
          });
      out.append("<pre>").append(Charts.escape(TableReport.of(results, scenario))).append("</pre>\n");
    }
    out.append("<h2>ratios</h2>\n<pre>");
    results.ratios().forEach(ratio -> out.append(Charts.escape(ratio.line())).append('\n'));
    return out.append("</pre>\n</body></html>\n").toString();
  }

  /**
   * Writes the pictures of the documentation, each as a file {@code <scenario>-<metric>.svg}, and
   * all figures as {@code results.txt}.
   */
  public void writeForDocumentation(Path directory) throws IOException {
    Files.createDirectories(directory);
    for (Map.Entry<String, String> picture : pictures().entrySet()) {
      if (SHOWN.contains(picture.getKey())) {
        String file = picture.getKey().replace("/s", "-per-s").replace('.', '-') + ".svg";
        Files.writeString(directory.resolve(file), picture.getValue() + "\n");
      }
    }
    StringBuilder text = new StringBuilder(machine).append('\n').append(TableReport.of(results));
    results.ratios().forEach(ratio -> text.append(ratio.line()).append('\n'));
    Files.writeString(directory.resolve("results.txt"), text);
  }

  private Map<String, String> pictures() {
    Map<String, String> pictures = new LinkedHashMap<>();
    for (String scenario : results.scenarios()) {
      for (String metric : results.metrics(scenario)) {
        List<Charts.Bar> bars = bars(scenario, metric);
        if (bars.size() > 1 && isPictured(metric)) {
          pictures.put(
              scenario + "." + metric,
              Charts.bars(scenario + ": " + metric, results.unit(scenario, metric), bars));
        }
      }
      results
          .charts(scenario)
          .forEach(
              (chart, lines) ->
                  pictures.put(scenario + "." + chart.metric(), Charts.lines(chart, lines)));
      Map<String, Histogram> curves = results.curves(scenario);
      if (!curves.isEmpty()) {
        pictures.put(scenario + ".percentiles", Charts.curves(scenario + ": latency", curves));
      }
    }
    return pictures;
  }

  private static boolean isPictured(String metric) {
    return List.of(
                "p50", "p99", "pairs/s", "sections/s", "commands/section", "bytes/pair", "drain/s")
            .contains(metric)
        || metric.startsWith("hand-over")
        || metric.startsWith("collide");
  }

  private List<Charts.Bar> bars(String scenario, String metric) {
    List<Charts.Bar> bars = new ArrayList<>();
    for (String system : results.systems(scenario)) {
      results
          .figure(scenario, system, metric)
          .filter(figure -> figure.value() > 0)
          .ifPresent(
              figure ->
                  bars.add(
                      new Charts.Bar(
                          system,
                          figure.value(),
                          figure.repeats().stream().min(Double::compare).orElse(figure.value()),
                          figure.repeats().stream().max(Double::compare).orElse(figure.value()))));
    }
    return bars;
  }
}
