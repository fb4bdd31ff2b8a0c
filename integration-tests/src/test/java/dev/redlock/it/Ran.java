package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A program that ran to its end.
 *
 * @param status its exit status
 * @param said what it printed to both of its outputs
 */
record Ran(int status, String said) {
  private static final long DEADLINE_SECONDS = 120;

  /** Runs a program. It gets these variables, and none of the caller's that scripts here read. */
  static Ran of(Path folder, Map<String, String> environment, List<String> command)
      throws IOException, InterruptedException {
    Path said = Files.createTempFile("redlock-ran-", "");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(said.toFile());
      builder
          .environment()
          .keySet()
          .removeIf(name -> name.startsWith("REDLOCK_") || name.startsWith("REDISCLI_"));
      builder.environment().putAll(environment);
      Process process = builder.start();
      try {
        process.getOutputStream().close();
        assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS))
            .as("%s ends in time; it said: %s", command, Files.readString(said))
            .isTrue();
        return new Ran(process.exitValue(), Files.readString(said));
      } finally {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    } finally {
      Files.delete(said);
    }
  }

  /** The program of this name on the PATH. */
  static Optional<Path> which(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst();
  }
}
