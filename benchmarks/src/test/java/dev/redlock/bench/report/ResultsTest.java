package dev.redlock.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ResultsTest {
  private final Results results = new Results();

  private void add(String system, double... values) {
    for (double value : values) {
      results.add("uncontended", system, "p50", "µs", value);
    }
  }

  @Test
  void ratio_ofEquallyManyRepeats_comparesNeighbours() {
    // The machine was twice as slow the second time, for both.
    add("redlock", 100, 200, 110);
    add("floor", 80, 160, 88);

    assertThat(results.ratios())
        .extracting(Results.Ratio::line)
        .containsExactly("ratio uncontended p50 redlock/floor 1.250");
  }

  @Test
  void ratio_ofDifferentNumbersOfRepeats_comparesMedians() {
    add("redlock", 90, 100, 110);
    add("redisson-redlock", 1000);

    assertThat(results.ratios())
        .extracting(Results.Ratio::line)
        .containsExactly("ratio uncontended p50 redlock/redisson-redlock 0.100");
  }

  @Test
  void ratio_toNothing_isNotPrinted() {
    add("redlock", 100);
    add("floor", 0);

    assertThat(results.ratios()).isEmpty();
  }

  @Test
  void figure_ofRepeats_isTheirMedianWithTheDistanceOfTheOutermost() {
    add("redlock", 100, 90, 130, 120);

    Results.Figure figure = results.figure("uncontended", "redlock", "p50").orElseThrow();
    assertThat(figure.value()).isEqualTo(110);
    assertThat(figure.spread()).isEqualTo(40 / 110.0);
  }

  @Test
  void json_ofTextWithQuotesAndControls_escapesThem() {
    add("redlock", 1.5);

    assertThat(JsonReport.of(results, "a \"b\"\\\n"))
        .contains("\"machine\": \"a \\\"b\\\"\\\\\\u000a\"")
        .contains("\"value\": 1.5000");
  }

  @Test
  void page_ofAnyFigures_needsNothingFromElsewhere() {
    add("redlock", 1.5);
    add("floor", 1.2);

    String page = new HtmlReport(results, "here").page();

    assertThat(page).contains("<svg").doesNotContain("<script").doesNotContain("src=");
  }
}
