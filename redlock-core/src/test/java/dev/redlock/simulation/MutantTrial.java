package dev.redlock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Runs everything that could catch a mutant. Loaded beside the mutated classes, and called by
 * reflection with types of the JDK only.
 */
public final class MutantTrial {
  private MutantTrial() {}

  /**
   * Returns what failed: first the random seed, or an empty text; then the names of histories.
   *
   * @param seeds how many to try in each setting
   * @param thorough whether seeds are tried also where a history has caught it
   */
  public static List<String> run(long seeds, boolean thorough) {
    List<String> caught = new ArrayList<>();
    for (Map.Entry<String, Runnable> history : Histories.all().entrySet()) {
      try {
        history.getValue().run();
      } catch (RuntimeException | AssertionError e) {
        caught.add(history.getKey());
      }
    }
    caught.add(0, thorough || caught.isEmpty() ? randomly(seeds) : "");
    return caught;
  }

  private static String randomly(long seeds) {
    for (Scenario.Setting setting :
        List.of(Scenario.Setting.NORMAL, Scenario.Setting.LONG_ROUNDS)) {
      for (long seed = 1; seed <= seeds; seed++) {
        Simulator.Result result = Simulator.run(seed, setting, false);
        if (result.violation() != null) {
          return seed
              + (setting == Scenario.Setting.NORMAL ? "" : " " + setting)
              + " "
              + result.rule();
        }
      }
    }
    return "";
  }
}
