package dev.redlock.exhaustive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs TLC on the models in {@code src/test/tla}, with each configuration in the directory that has
 * the name of the model. A configuration {@code holds-…} must pass. So must {@code large-…}, which
 * takes minutes and runs only with {@code -Pthorough}. A configuration {@code fails-…} names one
 * invariant, which must be violated; this shows that the model can fail.
 *
 * <p>The class name does not match the pattern for tests, and only the profile {@code mvn -Ptla}
 * has TLC on the class path.
 */
class TlaCheck {
  private static final Pattern ONE_INVARIANT = Pattern.compile("(?m)^INVARIANTS (\\w+)$");

  static List<String> passing() throws IOException {
    return configurations("holds-");
  }

  static List<String> large() throws IOException {
    return configurations("large-");
  }

  static List<String> failing() throws IOException {
    return configurations("fails-");
  }

  private static List<String> configurations(String prefix) throws IOException {
    try (Stream<Path> files = Files.walk(Tlc.MODELS, 2)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(prefix))
          .filter(file -> file.toString().endsWith(".cfg"))
          .map(file -> Tlc.MODELS.relativize(file).toString())
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("passing")
  void model_withinTheAssumptions_holds(String configuration, @TempDir Path work) throws Exception {
    Tlc.Result result = check(configuration, work);
    assertThat(result.status()).as(result.output()).isZero();
    assertThat(result.output()).contains("Model checking completed. No error has been found.");
  }

  @ParameterizedTest
  @MethodSource("large")
  @Tag("thorough")
  void model_inALargerScope_holds(String configuration, @TempDir Path work) throws Exception {
    model_withinTheAssumptions_holds(configuration, work);
  }

  @ParameterizedTest
  @MethodSource("failing")
  void model_outsideThem_violatesTheInvariantItNames(String configuration, @TempDir Path work)
      throws Exception {
    Matcher named = ONE_INVARIANT.matcher(Files.readString(Tlc.MODELS.resolve(configuration)));
    assertThat(named.find()).as("one invariant named in %s", configuration).isTrue();
    Tlc.Result result = check(configuration, work);
    assertThat(result.status()).as(result.output()).isEqualTo(Tlc.SAFETY_VIOLATED);
    assertThat(result.output())
        .contains("Error: Invariant %s is violated.".formatted(named.group(1)));
  }

  private static Tlc.Result check(String configuration, Path work) throws Exception {
    Tlc.Result result =
        Tlc.run(
            Tlc.MODELS,
            work,
            List.of("-XX:+UseParallelGC", "-Xmx2g"),
            List.of(
                "-workers",
                "auto",
                "-config",
                configuration,
                Path.of(configuration).getParent() + ".tla"));
    System.out.printf(
        "tla: %s: %s distinct states, status %d, %.0f s%n",
        configuration, result.states(), result.status(), result.seconds());
    return result;
  }
}
