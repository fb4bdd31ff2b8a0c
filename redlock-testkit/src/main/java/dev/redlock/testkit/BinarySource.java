package dev.redlock.testkit;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Starts servers from a program on this machine: unpacked from a jar, found on the PATH, or named
 * by the user.
 */
record BinarySource(Locator locator) implements ServerSource {

  private static final List<String> PROGRAMS = List.of("redis-server", "valkey-server");

  /** Finds the program. */
  interface Locator {
    Path locate() throws UnavailableException;
  }

  static BinarySource embedded() {
    return new BinarySource(EmbeddedBinary::locate);
  }

  static BinarySource named(Path binary) {
    return new BinarySource(() -> binary);
  }

  static BinarySource onPath() {
    return new BinarySource(() -> search(System.getenv().getOrDefault("PATH", "")));
  }

  @Override
  public ServerFactory find() throws UnavailableException {
    Path binary = locator.locate();
    if (!Files.isExecutable(binary)) {
      throw new UnavailableException(binary + " is not an executable file");
    }
    return new Processes(binary, version(binary));
  }

  static Path search(String path) throws UnavailableException {
    for (String directory : path.split(File.pathSeparator, -1)) {
      for (String program : PROGRAMS) {
        try {
          Path candidate = Path.of(directory, program);
          if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
            return candidate;
          }
        } catch (InvalidPathException e) {
          // The entry is not a valid path on this system; a shell ignores such entries as well.
        }
      }
    }
    throw new UnavailableException("neither " + String.join(" nor ", PROGRAMS) + " on the PATH");
  }

  /** Runs the program once, to see whether it can run on this machine. */
  private static String version(Path binary) throws UnavailableException {
    try {
      Process process =
          new ProcessBuilder(binary.toString(), "--version").redirectErrorStream(true).start();
      String line = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(5, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new UnavailableException(binary + " --version failed: " + line.strip());
      }
      return line.strip();
    } catch (IOException e) {
      throw new UnavailableException(binary + " does not run here", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UnavailableException("interrupted while running " + binary, e);
    }
  }

  private record Processes(Path binary, String version) implements ServerFactory {

    @Override
    public RedisServer create(int index, ServerSpec spec) {
      return new ProcessServer(binary, spec);
    }

    @Override
    public String description() {
      return binary + " (" + version + ")";
    }
  }
}
