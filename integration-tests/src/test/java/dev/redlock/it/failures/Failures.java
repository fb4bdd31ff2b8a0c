package dev.redlock.it.failures;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The main class behind {@code ./failures}. */
@Command(
    name = "failures",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Processes lock and unlock on five Redis masters while masters, links and processes are",
      "killed, paused, cut off and made to forget. One history is kept, and checked afterwards.",
      "Exit code 0 if no checker found anything; 1 if one did; 2 if it could not be run."
    })
final class Failures implements Callable<Integer> {
  @Option(names = "--minutes", paramLabel = "N", description = "how long (default: 2)")
  private double minutes = 2;

  @Option(
      names = "--nemesis",
      paramLabel = "NAMES",
      split = ",",
      description = "all, or some of N1 to N11 and ${COMPLETION-CANDIDATES} (default: all)")
  private List<String> nemeses = List.of("all");

  private String guard = "on";

  @Option(
      names = "--guard",
      paramLabel = "on|off",
      description =
          "off: the control; masters forget beyond all assumptions, and overlaps must be found")
  void guard(String word) {
    if (!word.equals("on") && !word.equals("off")) {
      throw new IllegalArgumentException("--guard is on or off, not " + word);
    }
    guard = word;
  }

  @Option(names = "--workers", paramLabel = "N", description = "processes (default: 4)")
  private int workers = 4;

  @Option(names = "--lease", paramLabel = "MS", description = "lease time (default: 3000)")
  private int leaseMillis = 3000;

  @Option(names = "--seed", paramLabel = "N", description = "of faults and lengths")
  private long seed = ThreadLocalRandom.current().nextInt(1_000_000);

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "where history.txt and timeline.html go (default: ${DEFAULT-VALUE})")
  private Path out = Path.of("failures-out");

  @Option(names = "--check", paramLabel = "FILE", description = "only check this history again")
  private Path check;

  /** Runs it and exits with its code. */
  public static void main(String[] args) {
    CommandLine command = new CommandLine(new Failures());
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

  @Override
  public Integer call() throws Exception {
    Settings settings = new Settings(Duration.ofMillis(leaseMillis), !guard.equals("off"));
    List<Nemesis> chosen = chosen(nemeses);
    List<Event> history =
        check != null
            ? History.read(check)
            : new Harness(
                    new Harness.Plan(
                        settings,
                        workers,
                        Duration.ofMillis((long) (minutes * 60_000)),
                        chosen,
                        seed,
                        out,
                        true))
                .run();
    boolean paused = history.stream().anyMatch(e -> e.is("fault") && e.text("code").equals("N3"));
    Verdict verdict = Verdict.of(history, settings.leaseTime(), paused);
    if (check == null) {
      Path page = out.resolve("timeline.html");
      Files.writeString(page, Picture.of(history, verdict, "Failures, seed " + seed));
      System.out.println("failures: " + page.toAbsolutePath());
      System.out.println("failures: " + out.resolve("history.txt").toAbsolutePath());
    }
    verdict.found().stream().limit(40).forEach(found -> System.out.println("FOUND " + found));
    if (verdict.found().size() > 40) {
      System.out.println("FOUND " + (verdict.found().size() - 40) + " more");
    }
    System.out.println(verdict.line());
    if (!settings.guard() && Checks.overlaps(Hold.of(history)).isEmpty()) {
      System.out.println("failures: no overlap, which the control is for: it proves nothing");
      return 2;
    }
    return verdict.passed() ? 0 : 1;
  }

  /** In their order. A name that is none is refused: a run without it would prove less. */
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
            "no such nemesis: " + name + "; there are all, " + known());
      }
      chosen.addAll(meant);
    }
    return List.copyOf(chosen);
  }

  private static String known() {
    return Arrays.stream(Nemesis.values())
        .map(n -> n.code() + " " + n.name().toLowerCase(Locale.ROOT).replace('_', '-'))
        .distinct()
        .collect(Collectors.joining(", "));
  }
}
