package dev.redlock.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Describes the machine of the figures, in one line. */
public final class Machine {
  private static final Pattern VERSION = Pattern.compile(".*v=([0-9.]+) .*");

  private Machine() {}

  /**
   * Returns processors, operating system, Java version, and the servers as their source describes
   * them.
   */
  public static String describe(String servers) {
    return "%d × %s, %s %s, JDK %s (%s), %s"
        .formatted(
            Runtime.getRuntime().availableProcessors(),
            processor(),
            System.getProperty("os.name"),
            System.getProperty("os.version"),
            Runtime.version(),
            System.getProperty("java.vm.info"), // Includes the compilers that the JVM uses.
            VERSION.matcher(servers).replaceFirst("Redis $1"));
  }

  private static String processor() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(System.getProperty("os.arch"));
    } catch (IOException e) {
      return System.getProperty("os.arch"); // Not on Linux.
    }
  }
}
