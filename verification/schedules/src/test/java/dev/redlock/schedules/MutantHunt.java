package dev.redlock.schedules;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** Puts one fault into the shell and explores the scenarios that may catch it. */
final class MutantHunt {
  private MutantHunt() {}

  /** What caught a fault; {@code by} is empty if nothing did. */
  record Outcome(Patch mutant, String by, long schedules) {}

  static Outcome hunt(Path root, Patch mutant, int once, long random) throws IOException {
    InstrumentingLoader loader = new InstrumentingLoader(mutant.compile(root));
    long schedules = 0;
    for (Map.Entry<String, Runnable> scenario : Explorer.scenarios(loader).entrySet()) {
      if (scenario.getKey().contains(mutant.caughtBy())) {
        Explorer.Report report =
            Explorer.explore(scenario.getKey(), scenario.getValue(), once, random);
        schedules += report.schedules();
        if (report.failure() != null) {
          String by = report.scenario() + ", " + report.how() + ": " + report.failure();
          return new Outcome(mutant, by, schedules);
        }
      }
    }
    return new Outcome(mutant, "", schedules);
  }
}
