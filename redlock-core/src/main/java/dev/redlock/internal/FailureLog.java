package dev.redlock.internal;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;

/**
 * Logs what foreign code throws: nodes, carriers of hints, timers, executors, listeners, callbacks.
 * Logs the first failure of a kind as an error with its stack trace and further ones at debug
 * level, so that code that always fails does not flood the log. Never throws. Safe from any thread.
 */
class FailureLog {
  private final Logger log;
  private final Set<String> reported = ConcurrentHashMap.newKeySet();

  FailureLog(Logger log) {
    this.log = log;
  }

  /**
   * @param kind what failed; there is a bounded number of kinds
   */
  void report(String kind, Throwable failure) {
    report(kind, "", failure);
  }

  /**
   * @param detail which one of its kind failed
   */
  void report(String kind, Object detail, Throwable failure) {
    try {
      if (reported.add(kind + failure.getClass().getName())) {
        log.error(
            "{} failed with an exception {}(logged once; see the debug level for more)",
            kind,
            detail.toString().isEmpty() ? "" : "on " + detail + " ",
            failure);
      } else {
        log.debug("{} failed with an exception again {}", kind, detail, failure);
      }
    } catch (Throwable ignored) {
      // A logger is foreign code too.
    }
  }
}
