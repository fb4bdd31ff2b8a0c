package dev.redlock.schedules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantHunt;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The schedules that the build runs. {@code bin/simulate --schedules} runs more. */
class SchedulesTest {
  private static final int ONCE = 60;
  private static final long RANDOM = 60;

  @Test
  void everyScenario_underManySchedules_holds() {
    InstrumentingLoader loader = new InstrumentingLoader(Map.of());
    List<String> failed = new ArrayList<>();
    long schedules = 0;
    double seconds = 0;
    for (Map.Entry<String, Runnable> scenario : Explorer.scenarios(loader).entrySet()) {
      Explorer.Report report =
          Explorer.explore(scenario.getKey(), scenario.getValue(), ONCE, RANDOM);
      schedules += report.schedules();
      seconds += report.seconds();
      if (report.failure() != null) {
        failed.add(report.scenario() + ", " + report.how() + ": " + report.failure());
      }
    }
    System.out.printf(Locale.ROOT, "schedules: schedules=%d seconds=%.1f%n", schedules, seconds);
    assertThat(failed).isEmpty();
    assertThat(schedules).isGreaterThan(2_000);
  }

  /** Close, errors and throwing code: if an old defect is put back, a scenario finds it. */
  @Tag("thorough")
  @Test
  void everyDefectThatWasMended_putBack_isFound() throws Exception {
    List<Mutant> defects =
        ScheduleMutants.all().stream().filter(m -> m.source().startsWith("14.")).toList();
    assertThat(new MutantHunt(Path.of("..", ".."), new ScheduleTrial(400, 400), 1).hunt(defects))
        .isNotEmpty()
        .allSatisfy(o -> assertThat(o.isCaught()).as(o.toString()).isTrue());
  }

  @Tag("thorough")
  @Test
  void everyScenario_exploredTwice_takesTheSameSchedules() {
    assertThat(digests()).isEqualTo(digests());
  }

  private static Map<String, Long> digests() {
    Map<String, Long> digests = new LinkedHashMap<>();
    InstrumentingLoader loader = new InstrumentingLoader(Map.of());
    Explorer.scenarios(loader)
        .forEach(
            (name, scenario) -> digests.put(name, Explorer.explore(name, scenario, 8, 8).digest()));
    return digests;
  }
}
