package dev.redlock.it.failures;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The main class behind {@code bin/failures}. */
@Command(
    name = "failures",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Processes lock and unlock on five Redis masters. Meanwhile masters, links and processes are",
      "killed, paused and cut off, and masters lose keys. Checkers verify the recorded history.",
      "Exit code 0 if no checker found a violation; 1 if one did; 2 if the run could not start."
    })
final class Failures implements Callable<Integer> {
  @Option(names = "--minutes", paramLabel = "N", description = "duration in minutes (default: 2)")
  private double minutes = 2;

  @Option(
      names = "--nemesis",
      paramLabel = "NAMES",
      split = ",",
      description = {
        "all, or some of N1 to N13 (default: all); or replace alone: members of the set of masters",
        "are added, removed and replaced while masters, links, workers and operators fail, people",
        "look at them, and workers start with slips in their lists"
      })
  private List<String> nemeses = List.of("all");

  private String guard = "on";

  @Option(
      names = "--guard",
      paramLabel = "on|off",
      description =
          "off: the control; masters forget without a restart guard, and checkers must find"
              + " overlaps")
  void guard(String word) {
    if (!word.equals("on") && !word.equals("off")) {
      throw new IllegalArgumentException("--guard is on or off, not " + word);
    }
    guard = word;
  }

  @Option(
      names = "--workers",
      paramLabel = "N",
      description = "number of worker processes (default: 4)")
  private int workers = 4;

  @Option(
      names = "--set-control",
      paramLabel = "NAME",
      description =
          "with --nemesis replace: what is broken so that checkers must find overlaps; one of"
              + " ${COMPLETION-CANDIDATES} (default: NONE)")
  private SetFailures.Control setControl = SetFailures.Control.NONE;

  @Option(
      names = "--lease",
      paramLabel = "MS",
      description =
          "lease time in ms (default: 3000; 2000 with --nemesis replace, 10000 with --guard off)")
  private Integer leaseMillis;

  @Option(names = "--majority-first", description = "an acquire asks a majority first")
  private boolean majorityFirst;

  @Option(names = "--seed", paramLabel = "N", description = "seed of faults and durations")
  private long seed = ThreadLocalRandom.current().nextInt(1_000_000);

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "directory for history.txt and timeline.html (default: ${DEFAULT-VALUE})")
  private Path out = Path.of("failures-out");

  @Option(
      names = "--shards",
      paramLabel = "MODE",
      description = {
        "use one cluster instead, whose shards fail over and lose writes, one after another, as",
        "${COMPLETION-CANDIDATES}; SINGLE is the control and must show overlaps"
      })
  private ShardFailures.Mode shards;

  @Option(
      names = "--failovers",
      paramLabel = "N",
      description = "with --shards: the number of failovers (default: 200)")
  private int failovers = 200;

  @Option(
      names = "--shard-faults",
      paramLabel = "NAMES",
      split = ",",
      description =
          "with --shards: the fault of a master, one or more of ${COMPLETION-CANDIDATES} (default:"
              + " KILL)")
  private List<ShardFailures.Fault> shardFaults = List.of(ShardFailures.Fault.KILL);

  @Option(names = "--check", paramLabel = "FILE", description = "only check this history file")
  private Path check;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = {
        "also write the history as traces of the model Register.tla; bin/traces checks them by TLC"
      })
  private Path trace;

  @Option(
      names = "--edn",
      paramLabel = "FILE",
      description = "also write the history as operations of Jepsen; bin/histories checks them")
  private Path edn;

  /** Runs the program and exits with its code. */
  public static void main(String[] args) {
    CommandLine command = command();
    command.setExecutionExceptionHandler(
        (failure, line, parsed) -> {
          if (failure instanceof IllegalArgumentException) {
            System.err.println("failures: " + failure.getMessage());
          } else {
            failure.printStackTrace();
          }
          return 2;
        });
    System.exit(command.execute(args));
  }

  /** The options, and after them the list of the faults. */
  static CommandLine command() {
    CommandLine command = new CommandLine(new Failures());
    List<String> lines = new ArrayList<>(List.of("", "The faults; n0 to n4 are the masters:"));
    for (Nemesis nemesis : Nemesis.values()) {
      lines.add("  " + nemesis.label() + ": " + nemesis.words());
    }
    command.getCommandSpec().usageMessage().footer(lines.toArray(String[]::new));
    return command;
  }

  @Override
  public Integer call() throws Exception {
    if (shards != null) {
      return ofShards();
    }
    boolean replace = nemeses.stream().anyMatch(Failures::isReplace);
    if (replace && (nemeses.size() > 1 || guard.equals("off"))) {
      throw new IllegalArgumentException(
          "--nemesis replace needs a world of its own: no other nemesis, and no --guard off");
    }
    // In the control, masters that start slowly must be back before the first lease is over.
    int usual = replace ? 2_000 : guard.equals("off") ? 10_000 : 3_000;
    Duration lease = Duration.ofMillis(leaseMillis != null ? leaseMillis : usual);
    Settings settings = new Settings(lease, !guard.equals("off"), majorityFirst);
    Duration length = Duration.ofMillis((long) (minutes * 60_000));
    List<Nemesis> chosen = replace ? List.of() : chosen(nemeses);
    List<Event> history =
        check != null
            ? History.read(check)
            : replace
                ? SetFailures.run(
                    new SetFailures.Plan(settings, workers, length, setControl, seed, out, true))
                : new Harness(new Harness.Plan(settings, workers, length, chosen, seed, out, true))
                    .run();
    boolean paused =
        history.stream()
            .filter(e -> e.is("fault"))
            .map(e -> e.text("code"))
            .anyMatch(Set.of(Nemesis.STOP_CLIENT.code(), Nemesis.STOP_AT_STEP.code())::contains);
    if (trace != null) {
      Files.write(trace, RegisterTrace.lines(history));
    }
    if (edn != null) {
      Files.write(edn, EdnHistory.lines(history));
    }
    Verdict verdict = Verdict.of(history, settings.leaseTime(), paused);
    if (check == null) {
      Path page = out.resolve("timeline.html");
      Files.writeString(page, HistoryPicture.of(history, verdict, "Failures, seed " + seed));
      System.out.println("failures: " + page.toAbsolutePath());
      System.out.println("failures: " + out.resolve("history.txt").toAbsolutePath());
    }
    verdict.found().stream().limit(40).forEach(found -> System.out.println("FOUND " + found));
    if (verdict.found().size() > 40) {
      System.out.println("FOUND " + (verdict.found().size() - 40) + " more");
    }
    System.out.println(verdict.line());
    Builds.line(history).ifPresent(System.out::println);
    boolean stuck = false;
    if (replace) {
      SetReport report = SetReport.of(history);
      report.stuck().forEach(found -> System.out.println("FOUND " + found));
      System.out.println(report.line());
      stuck = !report.stuck().isEmpty();
    }
    boolean control = !settings.guard() || setControl != SetFailures.Control.NONE;
    if (control && Checks.overlaps(ClaimedHold.of(history)).isEmpty()) {
      System.out.println("failures: the control found no overlap, so it proves nothing");
      return 2;
    }
    return verdict.passed() && !stuck ? 0 : 1;
  }

  private static boolean isReplace(String name) {
    return name.strip().equalsIgnoreCase("replace");
  }

  private int ofShards() throws Exception {
    boolean control = shards == ShardFailures.Mode.SINGLE;
    int masters = shards == ShardFailures.Mode.SPREAD_5 ? 5 : 3;
    ShardFailures.Result result =
        new ShardFailures(
                new ShardFailures.Plan(shards, masters, failovers, shardFaults, seed, false))
            .run();
    System.out.println(result.line());
    if (control) {
      return result.overlaps() > 0 ? 0 : 2;
    }
    return result.overlaps() == 0 && result.lostUpdates() == 0 && result.fallingTokens() == 0
        ? 0
        : 1;
  }

  /**
   * Parses names, in the order of the enum. Rejects an unknown name, because a run without that
   * fault would prove less.
   */
  static List<Nemesis> chosen(List<String> names) {
    EnumSet<Nemesis> chosen = EnumSet.noneOf(Nemesis.class);
    for (String name : names) {
      String word = name.strip().toUpperCase(Locale.ROOT).replace('-', '_');
      List<Nemesis> meant =
          Arrays.stream(Nemesis.values())
              .filter(n -> word.equals("ALL") || word.equals(n.code()) || word.equals(n.name()))
              .toList();
      if (meant.isEmpty()) {
        throw new IllegalArgumentException(
            "unknown nemesis: " + name + "; known are all, " + known());
      }
      chosen.addAll(meant);
    }
    return List.copyOf(chosen);
  }

  private static String known() {
    return Arrays.stream(Nemesis.values()).map(Nemesis::label).collect(Collectors.joining(", "));
  }
}
