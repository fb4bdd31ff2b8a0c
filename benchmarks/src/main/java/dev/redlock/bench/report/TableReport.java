package dev.redlock.bench.report;

import java.util.ArrayList;
import java.util.List;

/** The figures as plain text: one table per scenario, one row per system. */
public final class TableReport {
  private TableReport() {}

  /** Returns the tables of all scenarios. */
  public static String of(Results results) {
    StringBuilder out = new StringBuilder();
    for (String scenario : results.scenarios()) {
      out.append('\n').append(of(results, scenario));
    }
    results.remarks().forEach(remark -> out.append("\nnote: ").append(remark));
    return out.append('\n').toString();
  }

  static String of(Results results, String scenario) {
    List<String> metrics = results.metrics(scenario);
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(scenario));
    metrics.forEach(metric -> head.add(metric + unit(results, scenario, metric)));
    rows.add(head);
    for (String system : results.systems(scenario)) {
      List<String> row = new ArrayList<>(List.of(system));
      metrics.forEach(
          metric ->
              row.add(results.figure(scenario, system, metric).map(TableReport::cell).orElse("-")));
      rows.add(row);
    }
    return layOut(rows);
  }

  private static String unit(Results results, String scenario, String metric) {
    String unit = results.unit(scenario, metric);
    return unit.isEmpty() || metric.contains("/") ? "" : " " + unit;
  }

  private static String cell(Results.Figure figure) {
    String spread =
        figure.repeats().size() < 2 ? "" : " ±" + Math.round(figure.spread() * 50) + "%";
    return Numbers.of(figure.value()) + spread;
  }

  private static String layOut(List<List<String>> rows) {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    StringBuilder out = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        String pad = " ".repeat(widths[i] - row.get(i).length());
        line.append(i == 0 ? row.get(i) + pad : "  " + pad + row.get(i));
      }
      out.append(line.toString().stripTrailing()).append('\n');
    }
    return out.toString();
  }
}
