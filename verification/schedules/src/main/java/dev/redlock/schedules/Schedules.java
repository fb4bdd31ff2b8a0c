package dev.redlock.schedules;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantHunt;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code bin/simulate --schedules}. */
@Command(
    name = "simulate --schedules",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Runs the shell, whose threads share state, under many thread schedules.")
final class Schedules implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--interruptions",
      paramLabel = "N",
      description = "up to N schedules of each scenario interrupt one thread once (default: 4000)")
  private int once = 4_000;

  @Option(
      names = "--random",
      paramLabel = "N",
      description = "N random schedules of each scenario (default: 20000)")
  private long random = 20_000;

  @Option(
      names = "--only",
      paramLabel = "NAME",
      description = "only the scenarios or mutants whose name contains NAME")
  private String only = "";

  @Option(
      names = "--replay",
      paramLabel = "SEED",
      description = "run one random schedule of --only again")
  private Long seed;

  @Option(
      names = "--mutants",
      description = "put faults into the shell; a scenario must catch each of them")
  private boolean mutants;

  @Option(names = "--list", description = "with --mutants: print them, and run nothing")
  private boolean list;

  @Option(names = "--sources", paramLabel = "DIR", description = "the root of the project")
  private Path sources = Path.of("");

  public static void main(String[] args) {
    System.exit(new CommandLine(new Schedules()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    if (mutants && list) {
      MutantHunt.list("schedules", selected(), out);
      return 0;
    } else if (mutants) {
      MutantHunt hunt = new MutantHunt(sources, new ScheduleTrial(once, random), 1);
      return hunt.print("schedules", selected(), out) ? 0 : 1;
    }
    return explore(out);
  }

  private int explore(PrintWriter out) {
    long schedules = 0;
    int failed = 0;
    InstrumentingLoader loader = new InstrumentingLoader(Map.of());
    for (Map.Entry<String, Runnable> scenario : Explorer.scenarios(loader).entrySet()) {
      String name = scenario.getKey();
      if (!name.contains(only)) {
        continue;
      }
      Explorer.Report report =
          seed != null
              ? Explorer.replay(name, scenario.getValue(), seed)
              : Explorer.explore(name, scenario.getValue(), once, random);
      schedules += report.schedules();
      out.printf(
          Locale.ROOT,
          "%-40s schedules=%d steps=%d seconds=%.1f digest=%016x%n",
          name,
          report.schedules(),
          report.steps(),
          report.seconds(),
          report.digest());
      if (report.failure() != null) {
        failed++;
        out.println("  FAILED, " + report.how());
        report.trace().forEach(line -> out.println("  " + line));
        report.failure().printStackTrace(out);
      }
      out.flush();
    }
    out.println("schedules: schedules=" + schedules + " failed=" + failed);
    return failed == 0 ? 0 : 1;
  }

  private List<Mutant> selected() {
    return MutantHunt.select(ScheduleMutants.all(), only);
  }
}
