package dev.redlock.simulation;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantHunt;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code bin/simulate}. */
@Command(
    name = "simulate",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Runs the client as it ships in simulated worlds; a seed makes each world.")
final class Simulate implements Callable<Integer> {
  private static final long MUTANT_SEEDS = 2_000;

  /** After so many a run of seeds ends early. */
  private static final int MAX_VIOLATIONS = 10;

  private static final class What {
    @Option(names = "--seeds", paramLabel = "N", description = "run N seeds")
    Long seeds;

    @Option(
        names = "--seed",
        paramLabel = "N",
        description = "replay seed N, and print its history")
    Long seed;

    @Option(
        names = "--mutants",
        description = "put faults into the protocol; the simulator must catch each of them")
    boolean mutants;
  }

  @Spec private CommandSpec spec;

  @ArgGroup(multiplicity = "1")
  private What what;

  @Option(
      names = "--from",
      paramLabel = "N",
      description = "the first seed of --seeds (default: 1)")
  private long from = 1;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "number of threads (default: one per core)")
  private int threads = Runtime.getRuntime().availableProcessors();

  @Option(
      names = "--setting",
      paramLabel = "NAME",
      description = {
        "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})",
        "SHELL… run the client as it ships, the others the protocol alone.",
        "All rules hold in all but GUARD_OFF, FAST_CLOCKS, FORGETFUL."
      })
  private Scenario.Setting setting = Scenario.Setting.SHELL_NORMAL;

  @Option(
      names = "--shell",
      description = "use worlds with more names, callers and faults: --setting SHELL")
  private boolean shell;

  @Option(
      names = "--coverage",
      description =
          "print how often each event occurred, and how close histories came to each bound")
  private boolean coverage;

  /** The output of {@link TimelineText}. The script passes a temporary file here, and draws it. */
  @Option(
      names = "--svg",
      paramLabel = "FILE",
      description = {
        "write an HTML page with an SVG of the replayed seed, or of the first seed of --seeds",
        "that breaks a rule"
      })
  private Path svg;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = {
        "write the history of the seeds as events of the model HandOff.tla, up to 1,000 of each;",
        "mvn -Ptla -pl :redlock-simulator -am verify -Dredlock.traces=FILE checks them"
      })
  private Path trace;

  @Option(
      names = "--sources",
      paramLabel = "DIR",
      description = "the root of the project, for --mutants")
  private Path sources = Path.of("");

  @Option(
      names = "--only",
      paramLabel = "NAME",
      description = "only the mutants whose name contains NAME, or whose source it is")
  private String only = "";

  @Option(names = "--list", description = "with --mutants: print them, and run nothing")
  private boolean list;

  public static void main(String[] args) {
    System.exit(new CommandLine(new Simulate()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    if (shell) {
      setting = Scenario.Setting.SHELL;
    }
    if (trace != null && !what.mutants) {
      return writeTraces(out);
    } else if (what.seed != null) {
      return replay(out, what.seed);
    } else if (what.mutants && list) {
      MutantHunt.list("simulate", selected(), out);
      return 0;
    } else if (what.mutants) {
      MutantHunt hunt = new MutantHunt(sources, new MutantTrial(MUTANT_SEEDS, true), threads);
      return hunt.print("simulate", selected(), out) ? 0 : 1;
    }
    return runAll(out);
  }

  private List<Mutant> selected() {
    return MutantHunt.select(MutantTrial.all(), only);
  }

  /** Each seed whose world the model covers is one trace; a violation ends its trace. */
  private int writeTraces(PrintWriter out) throws IOException {
    long first = what.seed == null ? from : what.seed;
    long last = what.seed == null ? from + what.seeds - 1 : first;
    List<String> lines = new ArrayList<>();
    int traces = 0;
    for (long seed = first; seed <= last; seed++) {
      List<String> one = Trace.of(seed, setting);
      traces += one.isEmpty() ? 0 : 1;
      lines.addAll(one);
    }
    Files.write(trace, lines);
    out.printf(
        Locale.ROOT,
        "simulate: seeds=%d traces=%d events=%d written to %s%n",
        last - first + 1,
        traces,
        lines.size() - traces,
        trace);
    return 0;
  }

  private int runAll(PrintWriter out) throws InterruptedException {
    Simulator.Tally tally = new Simulator.Tally();
    long start = System.nanoTime();
    Simulator.Run run = Simulator.start(tally, from, what.seeds, setting, threads, MAX_VIOLATIONS);
    while (!run.join(5000)) {
      out.printf(
          Locale.ROOT,
          "simulate: %,d of %,d seeds, %,.0f seeds/s%n",
          tally.seeds.sum(),
          what.seeds,
          tally.seeds.sum() / seconds(start));
      out.flush();
    }
    double took = seconds(start);
    Simulator.Result first = tally.first();
    if (first != null) {
      replay(out, first.seed());
      tally.violations.forEach(one -> out.println("seed " + one.seed() + ": " + one.violation()));
    } else if (svg != null) {
      out.println("simulate: no rule is broken, so no picture is drawn");
    }
    out.printf(
        Locale.ROOT,
        "simulate: leases=%d extensions=%d handOffs=%d withoutRound=%d digest=%016x%n",
        tally.grants.sum(),
        tally.extensions.sum(),
        tally.handOffs.sum(),
        tally.handedOffLocally.sum(),
        tally.digests.sum());
    if (coverage) {
      tally.coverage.print(out);
      tally.margins.print(out);
    }
    out.printf(
        Locale.ROOT,
        "simulate: seeds=%d events=%d violations=%d seeds/s=%.0f%n",
        tally.seeds.sum(),
        tally.events.sum(),
        tally.violations.size(),
        tally.seeds.sum() / took);
    return first == null ? 0 : 1;
  }

  private static double seconds(long sinceNanos) {
    return (System.nanoTime() - sinceNanos) / 1e9;
  }

  private int replay(PrintWriter out, long seed) {
    Simulator.Result result = Simulator.run(seed, setting, true);
    World world = result.world();
    out.println("seed " + seed);
    world.scenario.describe().forEach(line -> out.println("  " + line));
    StringBuilder table = new StringBuilder();
    world.history.print(table);
    out.print(table);
    out.printf(
        Locale.ROOT,
        "seed %d: %d events, digest %016x, %s%n",
        seed,
        result.events(),
        result.digest(),
        result.violation() == null ? "no violation" : result.violation());
    if (result.violation() != null && !(result.violation() instanceof Violation)) {
      result.violation().printStackTrace(out);
    }
    out.flush();
    if (svg != null) {
      draw(out, result);
    }
    return result.violation() == null ? 0 : 1;
  }

  private void draw(PrintWriter out, Simulator.Result result) {
    try {
      Files.write(svg, TimelineText.of(result));
    } catch (IOException e) {
      out.println("cannot write " + svg + ": " + e.getMessage());
    }
  }
}
