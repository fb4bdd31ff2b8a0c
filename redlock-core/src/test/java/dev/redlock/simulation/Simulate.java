package dev.redlock.simulation;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code ./simulate}. */
@Command(
    name = "simulate",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Runs the lock protocol in simulated worlds, each made by a seed.")
final class Simulate implements Callable<Integer> {

  private static final class What {
    @Option(names = "--seeds", paramLabel = "N", description = "run that many seeds")
    Long seeds;

    @Option(names = "--seed", paramLabel = "N", description = "replay one seed, and print it")
    Long seed;

    @Option(names = "--mutants", description = "break the protocol on purpose, and see it caught")
    boolean mutants;

    @Option(names = "--collisions", description = "measure how collisions are settled")
    boolean collisions;
  }

  @Spec private CommandSpec spec;

  @ArgGroup(multiplicity = "1")
  private What what;

  @Option(names = "--from", paramLabel = "N", description = "the first of --seeds (default 1)")
  private long from = 1;

  @Option(names = "--threads", paramLabel = "N", description = "default: as many as cores")
  private int threads = Runtime.getRuntime().availableProcessors();

  @Option(
      names = "--setting",
      paramLabel = "NAME",
      description = "${COMPLETION-CANDIDATES}; only NORMAL and LONG_ROUNDS must hold")
  private Scenario.Setting setting = Scenario.Setting.NORMAL;

  /** Gets the lines of {@link Picture}: the script puts in a file of its own, and draws it. */
  @Option(
      names = "--svg",
      paramLabel = "FILE",
      description = {
        "draw the replayed seed, or the one of --seeds that was violated (if none was, nothing):",
        "an HTML page with one SVG"
      })
  private Path svg;

  @Option(
      names = "--sources",
      paramLabel = "DIR",
      description = "where redlock-core lies, for --mutants")
  private Path sources = Path.of("redlock-core");

  @Option(names = "--only", paramLabel = "NAME", description = "of the mutants, only this one")
  private String only;

  public static void main(String[] args) {
    System.exit(new CommandLine(new Simulate()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    if (what.seed != null) {
      return replay(out, what.seed);
    } else if (what.mutants) {
      return MutantHunt.run(sources, only, threads, out) ? 0 : 1;
    } else if (what.collisions) {
      Collisions.print(sources, out);
      return 0;
    }
    return runAll(out);
  }

  private int runAll(PrintWriter out) throws InterruptedException {
    Simulator.Tally tally = new Simulator.Tally();
    long start = System.nanoTime();
    Simulator.Run run = Simulator.start(tally, from, what.seeds, setting, threads, 1);
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
    } else if (svg != null) {
      out.println("simulate: nothing was violated, so nothing is drawn");
    }
    out.printf(
        Locale.ROOT,
        "simulate: leases=%d extensions=%d handOffs=%d withoutRound=%d digest=%016x%n",
        tally.grants.sum(),
        tally.extensions.sum(),
        tally.handOffs.sum(),
        tally.passedOn.sum(),
        tally.digests.sum());
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
      Files.write(svg, Picture.of(result));
    } catch (IOException e) {
      out.println("cannot write " + svg + ": " + e.getMessage());
    }
  }
}
