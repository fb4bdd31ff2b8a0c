package dev.redlock.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResultsTest {
  private final Results results = new Results();

  private void add(String system, double... values) {
    DoubleStream.of(values).forEach(v -> results.add("uncontended", system, "p50", "µs", v));
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

  @ParameterizedTest
  @CsvSource({"4900, p50 (µs), 0", "5100, 'p50 (µs, logarithmic)', 10"})
  void bars_beginAtZeroUnlessTheTitleSaysLogarithmic(double most, String title, String first) {
    List<Charts.Bar> bars = List.of(new Charts.Bar("a", 99, 99, 99), new Charts.Bar("b", most, most, most));

    assertThat(Charts.bars("p50", "µs", bars)).contains(title + "</text>", ">" + first + "</text>");
  }

  @Test
  void legend_ofCurves_hasTheirColourAndWidth() {
    String picture = Charts.curves("latency", Map.of("redlock", new Histogram(1000, 1)));

    assertThat(picture).contains("stroke-width=\"2\"", "height=\"2\" fill=\"#1b6ca8\"");
  }
}
