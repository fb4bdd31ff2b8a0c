package dev.redlock.schedules;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantCheck;
import java.util.Map;

/**
 * Explores the scenarios that may catch a mutant: those whose name contains its {@code caughtBy}.
 *
 * @param once the maximum number of schedules of a scenario with one interruption
 * @param random how many random schedules of each
 */
record ScheduleTrial(int once, long random) implements MutantCheck {
  @Override
  public String run(Mutant mutant, Map<String, byte[]> changed) {
    InstrumentingLoader loader = new InstrumentingLoader(changed);
    for (Map.Entry<String, Runnable> scenario : Explorer.scenarios(loader).entrySet()) {
      if (scenario.getKey().contains(mutant.caughtBy())) {
        Explorer.Report report =
            Explorer.explore(scenario.getKey(), scenario.getValue(), once, random);
        if (report.failure() != null) {
          return "%s, schedule %d, %s: %s"
              .formatted(report.scenario(), report.schedules(), report.how(), report.failure());
        }
      }
    }
    return "";
  }
}
