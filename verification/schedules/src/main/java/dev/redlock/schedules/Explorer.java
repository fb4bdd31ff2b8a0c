package dev.redlock.schedules;

import java.util.List;
import java.util.Map;

/**
 * Executes scenarios under many schedules: each that interrupts one thread once, then random ones.
 */
final class Explorer {
  /** The class that lists the scenarios; loaded by an {@link InstrumentingLoader}. */
  static final List<String> SCENARIOS =
      List.of("dev.redlock.internal.ShellScenarios", "dev.redlock.internal.QueueScenarios");

  private Explorer() {}

  /**
   * The result of a scenario.
   *
   * @param how the schedule that failed; empty if none did
   */
  record Report(
      String scenario,
      long schedules,
      long steps,
      long digest,
      double seconds,
      String how,
      Throwable failure,
      List<String> trace) {}

  @SuppressWarnings("unchecked")
  static Map<String, Runnable> scenarios(ClassLoader loader) {
    Map<String, Runnable> all = new java.util.LinkedHashMap<>();
    try {
      for (String type : SCENARIOS) {
        all.putAll((Map<String, Runnable>) loader.loadClass(type).getMethod("all").invoke(null));
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
    return all;
  }

  /**
   * Explores one scenario.
   *
   * @param once the maximum number of schedules with one interruption; the steps are spread evenly
   * @param random how many random schedules
   */
  static Report explore(String name, Runnable scenario, int once, long random) {
    Run run = new Run(name, scenario);
    int length = run.execute("one after another", Choice.preempting(false, new int[0], new int[0]));
    run.execute("one after another, last first", Choice.preempting(true, new int[0], new int[0]));
    int stride = Math.max(1, 4 * length / Math.max(1, once));
    for (int step = 1; step <= length; step += stride) {
      for (int way = 0; way < 4; way++) {
        int[] at = {step};
        int[] other = {way / 2};
        run.execute(
            "interrupted at step " + step + ", way " + way,
            Choice.preempting(way % 2 == 0, at, other));
      }
    }
    for (long seed = 1; seed <= random; seed++) {
      run.execute("seed " + seed, Choice.random(seed, length));
    }
    return run.report();
  }

  /** Executes one schedule again. */
  static Report replay(String name, Runnable scenario, long seed) {
    Run run = new Run(name, scenario);
    int length = run.execute("one after another", Choice.preempting(false, new int[0], new int[0]));
    run.execute("seed " + seed, Choice.random(seed, length));
    return run.report();
  }

  private static final class Run {
    private final String name;
    private final Runnable scenario;
    private final long start = System.nanoTime();
    private long schedules;
    private long steps;
    private long digest;
    private String how = "";
    private Schedule.Result failed;

    Run(String name, Runnable scenario) {
      this.name = name;
      this.scenario = scenario;
    }

    int execute(String what, Choice choice) {
      if (failed != null) {
        return 0;
      }
      Schedule.Result result = Schedule.run(choice, scenario);
      schedules++;
      steps += result.steps();
      digest = 31 * digest + result.digest();
      if (result.failure() != null) {
        how = what;
        failed = result;
      }
      return result.steps();
    }

    Report report() {
      return new Report(
          name,
          schedules,
          steps,
          digest,
          (System.nanoTime() - start) / 1e9,
          how,
          failed == null ? null : failed.failure(),
          failed == null ? List.of() : failed.trace());
    }
  }
}
