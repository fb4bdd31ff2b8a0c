package dev.redlock.cli.look;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TableTest {
  private static String[] lines(Table table) {
    StringWriter text = new StringWriter();
    table.print(new PrintWriter(text, true));
    return text.toString().split("\\R");
  }

  @Test
  void columns_areAsWideAsTheirWidestCell() {
    Table table = new Table("NAME", "FOR", "END");
    table.row("a", Duration.ofMillis(1500), null);
    table.row("longer", null, "x");
    assertThat(lines(table))
        .containsExactly("NAME    FOR    END", "a       1.5 s  -", "longer  -      x");
  }

  @Test
  void cell_withControlCharacters_doesNotReachTheTerminal() {
    Table table = new Table("NAME");
    table.row("a\u001b[2J\nb");
    assertThat(lines(table)).hasSize(2);
    assertThat(lines(table)[1]).doesNotContain("\u001b");
  }
}
