package dev.redlock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The metrics and labels that the dashboard and the alerts use, compared with a scraped text. */
final class Queries {
  private static final Pattern METRIC = Pattern.compile("(redlock_[a-z_]+)(\\{[^}]*\\})?");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)(?:=|!=|=~|!~)\\\\?\"");
  private static final Pattern GROUPED = Pattern.compile("by \\(([a-z_, ]+)\\)");

  /** Labels that Prometheus adds. */
  private static final Set<String> ADDED = Set.of("job", "instance");

  private Queries() {}

  /** All lines of a file that hold an expression. */
  private static String expressions(Path file, String key) throws IOException {
    StringBuilder all = new StringBuilder();
    boolean inBlock = false;
    for (String line : Files.readAllLines(file)) {
      boolean begins = line.strip().startsWith(key);
      inBlock = begins ? line.endsWith("|") : inBlock && line.startsWith("          ");
      if (begins || inBlock) {
        all.append(line).append('\n');
      }
    }
    return all.toString();
  }

  static void exist(String scraped) throws IOException {
    Map<String, Set<String>> known = labelsByMetric(scraped);
    String all =
        expressions(Path.of("grafana", "redlock.json"), "\"expr\"")
            + expressions(Path.of("prometheus", "redlock-alerts.yml"), "expr:");
    Map<String, Set<String>> missing = new TreeMap<>();
    int used = 0;
    for (String line : all.split("\n", -1)) {
      Set<String> ofLine = new TreeSet<>();
      Matcher metric = METRIC.matcher(line);
      while (metric.find()) {
        used++;
        Set<String> labels = known.get(metric.group(1));
        if (labels == null) {
          missing.put(metric.group(1), Set.of("the metric itself"));
          continue;
        }
        ofLine.addAll(labels);
        Matcher label = LABEL.matcher(metric.group(2) == null ? "" : metric.group(2));
        while (label.find()) {
          if (!labels.contains(label.group(1)) && !ADDED.contains(label.group(1))) {
            missing.put(metric.group(1), Set.of(label.group(1)));
          }
        }
      }
      Matcher grouped = GROUPED.matcher(line);
      while (grouped.find()) {
        for (String label : grouped.group(1).split(", ", -1)) {
          if (!ofLine.isEmpty() && !ofLine.contains(label) && !ADDED.contains(label)) {
            missing.put(line, Set.of(label));
          }
        }
      }
    }
    assertThat(missing).as("metrics and labels that no scrape has").isEmpty();
    assertThat(used).isGreaterThan(25);
  }

  private static Map<String, Set<String>> labelsByMetric(String scraped) {
    Map<String, Set<String>> known = new HashMap<>();
    for (String line : scraped.split("\n", -1)) {
      Matcher metric = Pattern.compile("^(redlock_[a-z_]+)(\\{.*\\})? ").matcher(line);
      if (metric.find()) {
        Set<String> labels = known.computeIfAbsent(metric.group(1), key -> new HashSet<>());
        Matcher label = LABEL.matcher(metric.group(2) == null ? "" : metric.group(2));
        while (label.find()) {
          labels.add(label.group(1));
        }
      }
    }
    return known;
  }

  /** The metrics of a scraped text that neither file uses. */
  static Set<String> unused(String scraped) throws IOException {
    String all =
        Files.readString(Path.of("grafana", "redlock.json"))
            + Files.readString(Path.of("prometheus", "redlock-alerts.yml"));
    Set<String> unused = new TreeSet<>(labelsByMetric(scraped).keySet());
    unused.removeIf(all::contains);
    return unused;
  }
}
