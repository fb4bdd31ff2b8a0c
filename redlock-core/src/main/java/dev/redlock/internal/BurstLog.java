package dev.redlock.internal;

import dev.redlock.spi.Time;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;

/**
 * Lines about leases and elections, of which thousands may come at once. Of each kind the log gets
 * {@value #LINES} lines per window of 5 s, and then one line with the number of the others. Never
 * throws: a logger is foreign code too. Safe from any thread.
 */
final class BurstLog {
  static final int LINES = 5;
  static final long WINDOW_NANOS = 5_000_000_000L;

  private final Logger log;
  private final Time time;

  /** By kind. Guarded by this. */
  private final Map<String, Burst> bursts = new LinkedHashMap<>();

  private static final class Burst {
    final boolean warning;
    long beganNanos;
    int lines;
    int others;

    Burst(boolean warning) {
      this.warning = warning;
    }
  }

  BurstLog(Logger log, Time time) {
    this.log = log;
    this.time = time;
  }

  /**
   * Logs the line, or counts it.
   *
   * @param kind what the line is about, in the plural; there is a bounded number of kinds
   */
  void add(boolean warning, String kind, Supplier<String> line) {
    try {
      if (warning ? !log.isWarnEnabled() : !log.isInfoEnabled()) {
        return;
      }
      List<Runnable> lines = new ArrayList<>();
      synchronized (this) {
        Burst burst = bursts.computeIfAbsent(kind, k -> new Burst(warning));
        long now = time.nanos();
        if (burst.lines == 0 || now - burst.beganNanos >= WINDOW_NANOS) {
          tellOthers(kind, burst, lines);
          burst.beganNanos = now;
          burst.lines = 0;
        }
        if (burst.lines == LINES) {
          burst.others++;
        } else {
          burst.lines++;
          lines.add(() -> write(warning, line.get()));
        }
      }
      lines.forEach(Runnable::run);
    } catch (Throwable ignored) {
      // The line is lost.
    }
  }

  /** Tells the number of the lines that were left out in windows that are over, or in all. */
  void review(boolean all) {
    try {
      List<Runnable> lines = new ArrayList<>();
      synchronized (this) {
        long now = bursts.isEmpty() ? 0 : time.nanos();
        bursts.forEach(
            (kind, burst) -> {
              if (burst.others > 0 && (all || now - burst.beganNanos >= WINDOW_NANOS)) {
                tellOthers(kind, burst, lines);
              }
            });
      }
      lines.forEach(Runnable::run);
    } catch (Throwable ignored) {
      // As above.
    }
  }

  private void tellOthers(String kind, Burst burst, List<Runnable> lines) {
    int others = burst.others;
    if (others > 0) {
      burst.others = 0;
      lines.add(() -> write(burst.warning, others + " more " + kind));
    }
  }

  private void write(boolean warning, String line) {
    if (warning) {
      log.warn(line);
    } else {
      log.info(line);
    }
  }
}
