package dev.redlock.bench;

import dev.redlock.bench.report.HtmlReport;
import dev.redlock.bench.report.JsonReport;
import dev.redlock.bench.report.Machine;
import dev.redlock.bench.report.Results;
import dev.redlock.bench.report.TableReport;
import dev.redlock.bench.scenario.ClusterScale;
import dev.redlock.bench.scenario.Collision;
import dev.redlock.bench.scenario.ContendedLocal;
import dev.redlock.bench.scenario.ContendedProcesses;
import dev.redlock.bench.scenario.Crowds;
import dev.redlock.bench.scenario.Distance;
import dev.redlock.bench.scenario.HeldLeases;
import dev.redlock.bench.scenario.Hung;
import dev.redlock.bench.scenario.NodeCounts;
import dev.redlock.bench.scenario.Run;
import dev.redlock.bench.scenario.Scenario;
import dev.redlock.bench.scenario.Scripts;
import dev.redlock.bench.scenario.ThrottledLeases;
import dev.redlock.bench.scenario.Throughput;
import dev.redlock.bench.scenario.Uncontended;
import dev.redlock.bench.scenario.Waiters;
import dev.redlock.bench.system.Peer;
import dev.redlock.testkit.RedisNodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The main class behind {@code bin/bench}. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Compares this library with a hand-written lower bound, Redisson, Spring",
      "Integration and node-redlock, interleaved over the same masters. Prints tables, writes",
      "results.json and bench.html, and ends with lines 'ratio <scenario> <metric> redlock/<system>"
          + " <value>'."
    })
public final class Bench implements Callable<Integer> {
  private static final List<Scenario> SCENARIOS =
      List.of(
          new Uncontended(),
          new Throughput(),
          new ContendedLocal(),
          new ContendedProcesses(),
          Hung.paused(),
          Hung.killed(),
          new Waiters(),
          new HeldLeases(),
          new ThrottledLeases(),
          new Collision(),
          new Distance(),
          new Crowds(),
          new Scripts(),
          new NodeCounts(),
          new ClusterScale());

  private enum Size {
    quick,
    full
  }

  @Parameters(
      index = "0",
      description = "quick (about a quarter of an hour) or full (longer, with less variation)")
  private Size size = Size.quick;

  @Parameters(
      index = "1..*",
      paramLabel = "SCENARIO",
      description = "scenarios to run (default: all): ${COMPLETION-CANDIDATES}",
      completionCandidates = Names.class)
  private List<String> scenarios = List.of();

  @Option(
      names = "--systems",
      split = ",",
      paramLabel = "SYSTEM",
      description = "systems to measure, for example redlock,floor (default: all)")
  private List<String> systems = List.of();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "directory for results.json and bench.html (default: the current one)")
  private Path out = Path.of("");

  @Option(
      names = "--docs",
      paramLabel = "DIR",
      description = "directory for the pictures of docs/benchmarks.md and results.txt")
  private @Nullable Path docs;

  @Spec private CommandLine.Model.@Nullable CommandSpec spec;

  /** The names of the scenarios, for the help text. */
  static final class Names implements Iterable<String> {
    @Override
    public java.util.Iterator<String> iterator() {
      return SCENARIOS.stream().map(Scenario::name).iterator();
    }
  }

  /** Runs the scenarios and exits; exit code 1 if one could not be measured. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Bench()).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    List<Scenario> chosen = chosen();
    Set<Peer> peers = peers();
    Results results = new Results();
    Run run = new Run(size == Size.quick, peers, results, Bench::say);
    String machine = machine();
    say("bench: " + machine);
    int failed = 0;
    for (Scenario scenario : chosen) {
      long start = System.nanoTime();
      try {
        scenario.measure(run);
      } catch (Exception e) {
        failed++;
        results.remark(scenario.name() + " could not be measured: " + e);
        e.printStackTrace();
      }
      say(
          "bench: %s took %d s"
              .formatted(scenario.name(), (System.nanoTime() - start) / 1_000_000_000L));
    }
    say(TableReport.of(results));
    Files.createDirectories(out.toAbsolutePath());
    Files.writeString(out.resolve("results.json"), JsonReport.of(results, machine));
    HtmlReport report = new HtmlReport(results, machine);
    Files.writeString(out.resolve("bench.html"), report.page());
    if (docs != null) {
      report.writeForDocumentation(docs);
    }
    say("bench: results.json and bench.html written to " + out.toAbsolutePath());
    results.ratios().forEach(ratio -> say(ratio.line()));
    return failed == 0 ? 0 : 1;
  }

  private List<Scenario> chosen() {
    for (String name : scenarios) {
      if (SCENARIOS.stream().noneMatch(scenario -> scenario.name().equals(name))) {
        throw usage("unknown scenario: " + name);
      }
    }
    return SCENARIOS.stream()
        .filter(scenario -> scenarios.isEmpty() || scenarios.contains(scenario.name()))
        .toList();
  }

  private Set<Peer> peers() {
    if (systems.isEmpty()) {
      return EnumSet.allOf(Peer.class);
    }
    Set<Peer> peers = EnumSet.noneOf(Peer.class);
    for (String label : systems) {
      try {
        peers.add(Peer.labelled(label));
      } catch (IllegalArgumentException e) {
        throw usage("unknown system: " + label);
      }
    }
    return peers;
  }

  private static String machine() {
    try (RedisNodes one = RedisNodes.start(1)) {
      return Machine.describe(one.source());
    }
  }

  private RuntimeException usage(String message) {
    return spec == null
        ? new IllegalArgumentException(message)
        : new ParameterException(spec.commandLine(), message);
  }

  private static void say(String text) {
    System.out.println(text);
  }
}
