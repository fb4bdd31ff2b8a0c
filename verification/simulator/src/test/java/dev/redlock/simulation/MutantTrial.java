package dev.redlock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Runs every history that can catch a mutant. It is loaded beside the mutated classes, and called
 * by reflection with types of the JDK only.
 */
public final class MutantTrial {
  /** A seed takes some 20 ms, and a few seconds while classes are loaded. */
  private static final long HUNG_NANOS = 60_000_000_000L;

  private MutantTrial() {}

  /**
   * Returns what failed: first the random seed, or an empty text; then the names of directed
   * histories.
   *
   * @param seeds how many seeds to run in each setting
   * @param thorough whether to run seeds although a directed history has caught the mutant
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

  /**
   * The same for a mutant of the shell: seeds with the shell only, and none after so many seconds.
   * The hunt must not take a slow machine for a mutant that never ends.
   */
  public static List<String> runShell(String settingName, long seeds, long seconds) {
    Scenario.Setting setting = Scenario.Setting.valueOf(settingName);
    long begun = System.nanoTime();
    for (long seed = 1;
        seed <= seeds && System.nanoTime() - begun < seconds * 1_000_000_000L;
        seed++) {
      long seedBegun = System.nanoTime();
      Simulator.Result result = Simulator.run(seed, setting, false);
      if (result.violation() != null) {
        return List.of(seed + " " + setting + " " + result.rule());
      }
      if (System.nanoTime() - seedBegun > HUNG_NANOS) {
        return List.of(seed + " " + setting + " does not end");
      }
    }
    return List.of("");
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
