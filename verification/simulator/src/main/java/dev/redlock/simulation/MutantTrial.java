package dev.redlock.simulation;

import dev.redlock.harness.mutants.ChangedLoader;
import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Runs the histories that can catch a mutant. The histories run in a copy of this class, loaded
 * beside the changed classes: a call of the copy passes types of the JDK only.
 *
 * @param seeds how many seeds to run in each setting
 * @param thorough whether to run all although a directed history has caught the mutant
 */
public record MutantTrial(long seeds, boolean thorough) implements MutantCheck {
  /** What must catch a mutant of the protocol. Those of the shell name a setting. */
  static final String PROTOCOL = "";

  private static final long MINUTES = 4;

  /** No seed begins later: a slow machine must not be taken for a mutant that never ends. */
  private static final long SEEDS_NANOS = TimeUnit.MINUTES.toNanos(MINUTES) / 2;

  /** A seed takes some 20 ms, and a few seconds while classes are loaded. */
  private static final long HUNG_NANOS = 60_000_000_000L;

  /** Without the shell, which takes long to load. */
  private static final List<String> PROTOCOL_CLASSES =
      List.of(
          "dev.redlock.internal.protocol.",
          "dev.redlock.internal.sets.",
          "dev.redlock.harness.model.",
          "dev.redlock.redis.internal.ConnectionStates",
          "dev.redlock.redis.internal.Probe",
          "dev.redlock.redis.internal.Quarantine",
          "dev.redlock.simulation.");

  /** All catalogues of the simulator. */
  static List<Mutant> all() {
    return Stream.of(ProtocolMutants.all(), ShellMutants.all(), SetMutants.all())
        .flatMap(List::stream)
        .toList();
  }

  static ChangedLoader loader(Mutant mutant, Map<String, byte[]> changed) {
    List<String> again =
        mutant.caughtBy().equals(PROTOCOL) ? PROTOCOL_CLASSES : List.of("dev.redlock.");
    return new ChangedLoader(changed, name -> again.stream().anyMatch(name::startsWith));
  }

  /** A history that does not end has caught the mutant, too. */
  @Override
  public String run(Mutant mutant, Map<String, byte[]> changed) throws Exception {
    FutureTask<String> histories = new FutureTask<>(() -> runHistories(mutant, changed));
    Thread thread = new Thread(histories, "mutant");
    thread.setDaemon(true);
    thread.start();
    try {
      return histories.get(MINUTES, TimeUnit.MINUTES);
    } catch (TimeoutException e) {
      return "does not end";
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    } finally {
      histories.cancel(true);
    }
  }

  private String runHistories(Mutant mutant, Map<String, byte[]> changed)
      throws ReflectiveOperationException {
    return (String)
        loader(mutant, changed)
            .loadClass(MutantTrial.class.getName())
            .getMethod("run", String.class, long.class, boolean.class)
            .invoke(null, mutant.caughtBy(), seeds, thorough);
  }

  /** Returns the random seed that failed, and the directed histories. Called by reflection. */
  public static String run(String caughtBy, long seeds, boolean thorough) {
    if (!caughtBy.equals(PROTOCOL)) {
      return randomly(List.of(Scenario.Setting.valueOf(caughtBy)), seeds);
    }
    String directed = directedly(thorough);
    if (!directed.isEmpty() && !thorough) {
      return directed;
    }
    String random = randomly(List.of(Scenario.Setting.NORMAL, Scenario.Setting.LONG_ROUNDS), seeds);
    return directed.isEmpty() || random.isEmpty() ? random + directed : random + "; " + directed;
  }

  private static String directedly(boolean thorough) {
    List<String> failed = new ArrayList<>();
    for (Map.Entry<String, Runnable> history : Histories.all().entrySet()) {
      try {
        history.getValue().run();
      } catch (RuntimeException | AssertionError e) {
        failed.add(history.getKey());
        if (!thorough) {
          break;
        }
      }
    }
    return switch (failed.size()) {
      case 0 -> "";
      case 1 -> failed.get(0);
      default -> failed.get(0) + " and " + (failed.size() - 1) + " more";
    };
  }

  private static String randomly(List<Scenario.Setting> settings, long seeds) {
    long begun = System.nanoTime();
    for (Scenario.Setting setting : settings) {
      for (long seed = 1; seed <= seeds && System.nanoTime() - begun < SEEDS_NANOS; seed++) {
        long seedBegun = System.nanoTime();
        Simulator.Result result = Simulator.run(seed, setting, false);
        if (result.violation() != null) {
          return "seed " + seed + " " + setting + " " + result.rule();
        }
        if (System.nanoTime() - seedBegun > HUNG_NANOS) {
          return "seed " + seed + " " + setting + " does not end";
        }
      }
    }
    return "";
  }
}
