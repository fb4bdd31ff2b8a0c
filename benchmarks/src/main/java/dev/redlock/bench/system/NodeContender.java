package dev.redlock.bench.system;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Load.Mode;
import dev.redlock.bench.load.Slice;
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
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * node-redlock in a process of its own, which ends with its standard input, thus with this JVM at
 * the latest. Nothing is fetched: its package is used if it is there.
 */
final class NodeContender implements Contender {
  private final Process process;
  private final BufferedReader answers;

  private NodeContender(Process process) {
    this.process = process;
    this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
  }

  static Optional<String> whyAbsent() {
    Path directory = directory();
    if (Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
        .noneMatch(entry -> Files.isExecutable(Path.of(entry, "node")))) {
      return Optional.of("node is not on the PATH");
    } else if (!Files.isDirectory(directory.resolve("node_modules/redlock"))) {
      return Optional.of("its package is not there; 'npm install' in " + directory + " brings it");
    }
    return Optional.empty();
  }

  private static Path directory() {
    return Path.of(System.getProperty("bench.node", "benchmarks/node"));
  }

  static NodeContender start(List<String> uris) {
    List<String> command = new ArrayList<>(List.of("node", "redlock-bench.mjs"));
    command.addAll(uris);
    try {
      NodeContender node =
          new NodeContender(
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

  /** It has one thread; whatever waits in it waits without one. */
  @Override
  public boolean can(Load load) {
    return load.mode() == Mode.ASYNC || load.workers() == 1 || load.shared();
  }

  @Override
  public Slice drive(Load load) throws IOException {
    String line =
        "%d %d %d %d %d\n"
            .formatted(
                load.workers(),
                load.shared() ? 1 : 0,
                load.names(),
                load.time().toMillis(),
                Math.min(load.maxAttempts(), 1L << 50));
    process.getOutputStream().write(line.getBytes(UTF_8));
    process.getOutputStream().flush();
    String answer = answers.readLine();
    if (answer == null) {
      throw new IOException("node-redlock has ended");
    }
    return parse(answer);
  }

  private static Slice parse(String answer) {
    String[] parts = answer.split("\\|", -1);
    String[] sums = parts[0].split(" ", -1);
    List<Long> perWorker = Stream.of(parts[1].split(" ", -1)).map(Long::valueOf).toList();
    long failures = Long.parseLong(sums[3]);
    @Nullable String first = failures == 0 ? null : "no quorum";
    return new Slice(
        Long.parseLong(sums[1]),
        histogram(parts[2]),
        histogram(parts[3]),
        histogram(parts[4]),
        perWorker,
        Long.parseLong(sums[2]),
        failures,
        first);
  }

  private static Histogram histogram(String counts) {
    Histogram histogram = Drive.histogram();
    for (String entry : counts.isEmpty() ? new String[0] : counts.split(" ", -1)) {
      int colon = entry.indexOf(':');
      histogram.recordValueWithCount(
          Long.parseLong(entry.substring(0, colon)), Long.parseLong(entry.substring(colon + 1)));
    }
    return histogram;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
