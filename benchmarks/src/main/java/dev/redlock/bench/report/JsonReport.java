package dev.redlock.bench.report;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The figures as JSON: an array with one object per figure. */
public final class JsonReport {
  private JsonReport() {}

  /** One object per scenario, system and metric. */
  public static String of(Results results, String machine) {
    return results.figures().stream()
        .map(figure -> object(figure, machine))
        .collect(Collectors.joining(",\n  ", "[\n  ", "\n]\n"));
  }

  private static String object(Results.Figure figure, String machine) {
    Results.Key key = figure.key();
    return "{\"scenario\": %s, \"system\": %s, \"metric\": %s, \"value\": %s, \"unit\": %s, \"spread\": %s, \"repeats\": %s, \"machine\": %s}"
        .formatted(
            text(key.scenario()),
            text(key.system()),
            text(key.metric()),
            number(figure.value()),
            text(figure.unit()),
            number(figure.spread()),
            numbers(figure.repeats()),
            text(machine));
  }

  private static String numbers(List<Double> values) {
    return values.stream().map(JsonReport::number).collect(Collectors.joining(", ", "[", "]"));
  }

  private static String number(double value) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%.4f", value) : "null";
  }

  private static String text(String raw) {
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < raw.length(); i++) {
      char c = raw.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ') {
        out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }
}
