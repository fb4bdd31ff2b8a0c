package dev.redlock.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** With more to run than there are cores, short times measure the scheduler. */
final class Load {
  private static final Path AVERAGE = Path.of("/proc/loadavg");

  private Load() {}

  /** How much wanted to run in the last minute; 0 where nobody tells. */
  static double average() {
    try {
      return Files.exists(AVERAGE)
          ? Double.parseDouble(Files.readString(AVERAGE).split(" ")[0])
          : 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The tight bound on a machine that has time for us, else the loose one. */
  static long bound(long tight, long loose) {
    return average() < Runtime.getRuntime().availableProcessors() ? tight : loose;
  }
}
