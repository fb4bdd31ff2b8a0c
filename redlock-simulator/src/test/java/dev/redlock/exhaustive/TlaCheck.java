package dev.redlock.exhaustive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs TLC on the models in {@code src/test/tla}, with each configuration in the directory that has
 * the name of the model. A configuration {@code holds-…} must pass. A configuration {@code fails-…}
 * names one invariant, which must be violated; this shows that the model can fail.
 *
 * <p>The class name does not match the pattern for tests, and only the profile {@code mvn -Ptla}
 * has TLC on the class path. TLC runs in its own process, because it exits the JVM.
 */
class TlaCheck {
  private static final Path MODELS = Path.of("src/test/tla");

  /** What TLC returns when an invariant is violated; a model that does not parse returns 150. */
  private static final int SAFETY_VIOLATED = 12;

  private static final Pattern STATES = Pattern.compile("([\\d,]+) distinct states found");
  private static final Pattern ONE_INVARIANT = Pattern.compile("(?m)^INVARIANTS (\\w+)$");

  static List<String> passing() throws IOException {
    return configurations("holds-");
  }

  static List<String> failing() throws IOException {
    return configurations("fails-");
  }

  private static List<String> configurations(String prefix) throws IOException {
    try (Stream<Path> files = Files.walk(MODELS, 2)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(prefix))
          .filter(file -> file.toString().endsWith(".cfg"))
          .map(file -> MODELS.relativize(file).toString())
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("passing")
  void model_withinTheAssumptions_holds(String configuration, @TempDir Path work) throws Exception {
    Result result = check(configuration, work);
    assertThat(result.status()).as(result.output()).isZero();
    assertThat(result.output()).contains("Model checking completed. No error has been found.");
  }

  @ParameterizedTest
  @MethodSource("failing")
  void model_outsideThem_violatesTheInvariantItNames(String configuration, @TempDir Path work)
      throws Exception {
    Matcher named = ONE_INVARIANT.matcher(Files.readString(MODELS.resolve(configuration)));
    assertThat(named.find()).as("one invariant named in %s", configuration).isTrue();
    Result result = check(configuration, work);
    assertThat(result.status()).as(result.output()).isEqualTo(SAFETY_VIOLATED);
    assertThat(result.output())
        .contains("Error: Invariant %s is violated.".formatted(named.group(1)));
  }

  private record Result(int status, String output) {}

  private static Result check(String configuration, Path work) throws Exception {
    Path log = work.resolve("tlc.log");
    long started = System.nanoTime();
    Process tlc =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseParallelGC",
                "-Xmx2g",
                "-Djava.io.tmpdir=" + work,
                "-cp",
                tlaTools(),
                "tlc2.TLC",
                "-workers",
                "auto",
                "-metadir",
                work.resolve("states").toString(),
                "-config",
                configuration,
                Path.of(configuration).getParent() + ".tla")
            .directory(MODELS.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      boolean ended = tlc.waitFor(15, TimeUnit.MINUTES);
      String output = Files.readString(log, UTF_8);
      assertThat(ended).as("TLC ended within 15 minutes%n%s", output).isTrue();
      Matcher states = STATES.matcher(output);
      String seen = states.results().reduce((first, last) -> last).map(r -> r.group(1)).orElse("?");
      System.out.printf(
          "tla: %s: %s distinct states, status %d, %d s%n",
          configuration, seen, tlc.exitValue(), (System.nanoTime() - started) / 1_000_000_000L);
      return new Result(tlc.exitValue(), output);
    } finally {
      tlc.destroyForcibly();
    }
  }

  private static String tlaTools() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> entry.contains("tlatools"))
        .findFirst()
        .orElseThrow(
            () -> new IllegalStateException("TLC is not on the class path: run with -Ptla"));
  }
}
