package dev.redlock.cli.look;

import dev.redlock.internal.text.Printable;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Rows under a heading, in columns as wide as their widest cell. A missing value is a dash. */
final class Table {
  private final List<String[]> rows = new ArrayList<>();

  Table(String... heading) {
    rows.add(heading);
  }

  void row(@Nullable Object... cells) {
    String[] row = new String[cells.length];
    for (int i = 0; i < cells.length; i++) {
      row[i] = text(cells[i]);
    }
    rows.add(row);
  }

  private static String text(@Nullable Object cell) {
    if (cell == null) {
      return "-";
    }
    if (cell instanceof Duration time) {
      return Printable.of(Duration.ofMillis(time.toMillis()));
    }
    String text = Printable.of(cell.toString()); // Names and errors may contain control characters.
    return text.isEmpty() ? "-" : text;
  }

  void print(PrintWriter out) {
    int[] widths = new int[rows.get(0).length];
    for (String[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        widths[i] = Math.max(widths[i], row[i].codePointCount(0, row[i].length()));
      }
    }
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.length; i++) {
        line.append(row[i]);
        if (i < row.length - 1) {
          line.append(" ".repeat(widths[i] - row[i].codePointCount(0, row[i].length()) + 2));
        }
      }
      out.println(line);
    }
  }
}
