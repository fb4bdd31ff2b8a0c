package dev.redlock.bench.system;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A process of Node.js with node-redlock. It ends when its standard input ends, so with this JVM at
 * the latest.
 */
final class NodeProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader answers;

  private NodeProcess(Process process) {
    this.process = process;
    this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
  }

  static Optional<String> whyAbsent() {
    Path directory = directory();
    if (Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
        .noneMatch(entry -> Files.isExecutable(Path.of(entry, "node")))) {
      return Optional.of("node is not on the PATH");
    } else if (!Files.isDirectory(directory.resolve("node_modules/redlock"))) {
      return Optional.of("its packages are missing; 'bin/bench --prepare' fetches them");
    }
    return Optional.empty();
  }

  private static Path directory() {
    return Path.of(System.getProperty("bench.node", "benchmarks/node"));
  }

  /** Starts a process with this number of clients, each with connections of its own. */
  static NodeProcess start(List<String> uris, int clients) {
    List<String> command =
        new ArrayList<>(List.of("node", "redlock-bench.mjs", String.valueOf(clients)));
    command.addAll(uris);
    try {
      NodeProcess node =
          new NodeProcess(
              new ProcessBuilder(command)
                  .directory(directory().toFile())
                  .redirectError(ProcessBuilder.Redirect.INHERIT)
                  .start());
      String ready = node.answers.readLine();
      if (!"ready".equals(ready)) {
        node.close();
        throw new IllegalStateException("node-redlock did not start: " + ready);
      }
      return node;
    } catch (IOException e) {
      throw new UncheckedIOException("node cannot be started", e);
    }
  }

  /** Sends one line. */
  void order(String what, long... arguments) throws IOException {
    StringBuilder line = new StringBuilder(what);
    for (long argument : arguments) {
      line.append(' ').append(argument);
    }
    process.getOutputStream().write(line.append('\n').toString().getBytes(UTF_8));
    process.getOutputStream().flush();
  }

  /** Reads one line. */
  String answer() throws IOException {
    String answer = answers.readLine();
    if (answer == null) {
      throw new IOException("node-redlock has ended");
    }
    return answer;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
