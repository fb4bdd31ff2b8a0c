package dev.redlock.schedules;

import dev.redlock.harness.mutants.ChangedLoader;
import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantHunt;
import dev.redlock.harness.mutants.MutantCheck;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import kotlin.Unit;
import org.pastalab.fray.core.observers.TimelineCoverageType;
import org.pastalab.fray.core.randomness.ControlledRandomProvider;
import org.pastalab.fray.core.scheduler.POSScheduler;
import org.pastalab.fray.junit.plain.FrayInTestLauncher;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code bin/simulate --fray}. */
@Command(
    name = "simulate --fray",
    mixinStandardHelpOptions = true,
    description = "Runs the scenarios of --schedules under the schedules of Fray.")
final class FraySchedules implements Callable<Integer>, MutantCheck {
  /** Its listener runs on virtual threads, which Fray does not run. */
  private static final String LEFT_OUT = "the states of a node";

  private static final int MAX_SECONDS = 120;

  @Spec private CommandSpec spec;

  @Option(names = "--random", description = "schedules of each scenario (default: 1000)")
  private int schedules = 1_000;

  @Option(names = "--only", description = "only scenarios or mutants whose name contains this")
  private String only = "";

  @Option(names = "--mutants", description = "put faults into the shell, and say which it catches")
  private boolean mutants;

  @Option(names = "--sources", description = "the root of the project")
  private Path sources = Path.of("");

  public static void main(String[] args) {
    // Fray clears standard output.
    PrintWriter out = new PrintWriter(System.err, true);
    int status =
        new CommandLine(new FraySchedules())
            .setOut(out)
            .setOverwrittenOptionsAllowed(true)
            .execute(args);
    Runtime.getRuntime().halt(status); // With Fray, exit() ends with 0.
  }

  @Override
  public Integer call() throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    List<Mutant> chosen = MutantHunt.select(ScheduleMutants.all(), only);
    if (mutants && chosen.size() == 1) {
      return new MutantHunt(sources, this, 1).print("fray", chosen, out) ? 0 : 1;
    } else if (mutants) {
      return hunt(chosen, out);
    }
    String broken = explore(Map.of(), only, out);
    out.println("fray: " + (broken.isEmpty() ? "all hold" : broken));
    out.flush();
    return broken.isEmpty() ? 0 : 1;
  }

  /** Each in a process of its own: Fray finds nothing more after its first failure. */
  private static int hunt(List<Mutant> chosen, PrintWriter out)
      throws IOException, InterruptedException {
    var here = ProcessHandle.current().info();
    int caught = 0;
    for (Mutant mutant : chosen) {
      List<String> command = new ArrayList<>(List.of(here.command().orElseThrow()));
      command.addAll(List.of(here.arguments().orElseThrow()));
      command.addAll(List.of("--only", mutant.name()));
      Path log = Files.createTempFile("fray", ".log");
      Process trial =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
      if (!trial.waitFor(MAX_SECONDS, TimeUnit.SECONDS)) {
        trial.destroyForcibly().waitFor();
      }
      String row = "| " + mutant.source() + " | " + mutant.name() + " |";
      out.println(
          Files.readAllLines(log).stream()
              .filter(line -> line.startsWith(row))
              .findFirst()
              .orElse(row + " no end after " + MAX_SECONDS + " s |"));
      Files.delete(log);
      caught += trial.exitValue() == 0 ? 1 : 0;
    }
    out.println("fray: mutants caught=" + caught + " of=" + chosen.size());
    return caught == chosen.size() ? 0 : 1;
  }

  @Override
  public String run(Mutant mutant, Map<String, byte[]> changed) {
    return explore(changed, mutant.caughtBy(), new PrintWriter(PrintWriter.nullWriter()));
  }

  /** What broke the first scenario that does not hold; empty if all hold. */
  private String explore(Map<String, byte[]> changed, String name, PrintWriter out) {
    ChangedLoader loader = new ChangedLoader(changed, InstrumentingLoader::isOurs);
    for (Map.Entry<String, Runnable> scenario : Explorer.scenarios(loader).entrySet()) {
      if (!scenario.getKey().contains(name) || scenario.getKey().equals(LEFT_OUT)) {
        continue;
      }
      long start = System.nanoTime();
      try {
        FrayInTestLauncher.INSTANCE.launchFray(
            () -> Uncontrolled.run(scenario.getValue()),
            new IdleTimeScheduler(new POSScheduler()),
            new ControlledRandomProvider(),
            schedules,
            MAX_SECONDS,
            false,
            TimelineCoverageType.NONE,
            configuration -> Unit.INSTANCE);
      } catch (Throwable e) {
        e.printStackTrace(out);
        return scenario.getKey() + ": " + e;
      }
      long seconds = (System.nanoTime() - start) / 1_000_000_000L;
      out.printf("%-40s schedules=%d seconds=%d%n", scenario.getKey(), schedules, seconds);
      out.flush();
    }
    return "";
  }
}
