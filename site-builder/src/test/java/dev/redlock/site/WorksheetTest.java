package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tables of the pages for operators say what the options and the alerts say. */
class WorksheetTest {
  private static final Duration LEAST_GUARD = Duration.ofSeconds(5);
  private static final Duration GUARD_MARGIN = Duration.ofSeconds(2);

  @Test
  void worksheet_ofEachLeaseTime_isWhatTheDefaultsGive() throws IOException {
    List<String> rows = new ArrayList<>();
    for (Duration leaseTime :
        List.of(
            Duration.ofMillis(300),
            Duration.ofSeconds(3),
            Duration.ofSeconds(10),
            Duration.ofSeconds(30))) {
      rows.add(row(LockOptions.builder().leaseTime(leaseTime).build()));
    }

    assertThat(page("operations").lines()).containsSubsequence(rows);
  }

  private static String row(LockOptions options) {
    Duration leaseTime = options.leaseTime();
    Duration third = leaseTime.dividedBy(3);
    Duration guard = leaseTime.compareTo(LEAST_GUARD) > 0 ? leaseTime : LEAST_GUARD;
    return Stream.of(
            whole(leaseTime),
            millis(options.drift()),
            millis(leaseTime.minus(options.drift())),
            millis(third),
            millis(leaseTime.minus(third).minus(options.drift())),
            whole(leaseTime),
            millis(options.nodeTimeout()),
            whole(guard.plus(GUARD_MARGIN)))
        .reduce("|", (left, cell) -> left + " " + cell + " |");
  }

  private static String whole(Duration duration) {
    return duration.toMillis() % 1000 == 0 ? duration.toSeconds() + " s" : millis(duration);
  }

  private static String millis(Duration duration) {
    return String.format(Locale.ROOT, "%,d ms", duration.toMillis());
  }

  @Test
  void alerts_ofTheRules_haveARunbook() throws IOException {
    List<String> alerts =
        Files.readString(
                Repository.ROOT.resolve("integrations/micrometer/prometheus/redlock-alerts.yml"))
            .lines()
            .map(String::strip)
            .filter(line -> line.startsWith("- alert: "))
            .map(line -> line.substring("- alert: ".length()))
            .toList();
    String runbooks = page("runbooks");

    assertThat(alerts)
        .isNotEmpty()
        .allSatisfy(alert -> assertThat(runbooks).contains("| `" + alert + "` |"));
  }

  private static String page(String name) throws IOException {
    return Files.readString(Repository.ROOT.resolve("docs/" + name + ".md"));
  }
}
