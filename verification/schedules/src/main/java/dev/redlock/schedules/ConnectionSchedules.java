package dev.redlock.schedules;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantHunt;
import dev.redlock.lettuce.internal.ConnectionWorld;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code bin/simulate --connections}. */
@Command(
    name = "simulate --connections",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Runs the connection layer against scripted servers in virtual time.")
final class ConnectionSchedules implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--seeds", paramLabel = "N", description = "number of seeds (default: 2000)")
  private long seeds = 2_000;

  @Option(names = "--from", paramLabel = "N", description = "the first seed (default: 1)")
  private long from = 1;

  @Option(
      names = "--mutants",
      description = "put faults into the layer; a test must catch each of them")
  private boolean mutants;

  @Option(
      names = "--only",
      paramLabel = "NAME",
      description = "only the mutants whose name contains NAME")
  private String only = "";

  @Option(names = "--list", description = "with --mutants: print them, and run nothing")
  private boolean list;

  @Option(names = "--sources", paramLabel = "DIR", description = "the root of the project")
  private Path sources = Path.of("");

  public static void main(String[] args) {
    System.exit(new CommandLine(new ConnectionSchedules()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    if (mutants && list) {
      MutantHunt.list("connections", selected(), out);
      return 0;
    } else if (mutants) {
      MutantHunt hunt = new MutantHunt(sources, new ConnectionTrial(seeds), 1);
      return hunt.print("connections", selected(), out) ? 0 : 1;
    }
    return explore(out);
  }

  private int explore(PrintWriter out) {
    Map<String, Integer> events = new TreeMap<>();
    long start = System.nanoTime();
    long broken = 0;
    long digest = 0;
    long counted = 0;
    for (long seed = from; seed < from + seeds; seed++) {
      ConnectionWorld.Result result = ConnectionWorld.run(seed);
      digest += result.digest();
      counted += result.counted();
      result.events().forEach((event, times) -> events.merge(event, times, Integer::sum));
      if (!result.broken().isEmpty()) {
        broken++;
        out.println("connections: seed " + seed + " breaks " + result.broken());
        out.flush();
      }
    }
    events.forEach((event, times) -> out.printf(Locale.ROOT, "%-30s %d%n", event, times));
    out.printf(
        Locale.ROOT,
        "connections: seeds=%d votes=%d violations=%d digest=%016x seconds=%.1f%n",
        seeds,
        counted,
        broken,
        digest,
        (System.nanoTime() - start) / 1e9);
    return broken == 0 ? 0 : 1;
  }

  private List<Mutant> selected() {
    return MutantHunt.select(ConnectionMutants.all(), only);
  }
}
