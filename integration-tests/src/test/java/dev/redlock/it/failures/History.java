package dev.redlock.it.failures;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * All events, in the order of their arrival; append-only. Stamps are {@link System#nanoTime()} of
 * the process that saw the event: on Linux that is CLOCK_MONOTONIC, one clock for all processes of
 * a host, so stamps of different processes compare ({@link WorkerProcess} checks it).
 */
final class History implements AutoCloseable {
  private final List<Event> events = new ArrayList<>();
  private final BufferedWriter file;

  History(Path file) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      this.file = Files.newBufferedWriter(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads the history from a file, to check it again. */
  static List<Event> read(Path file) throws IOException {
    try (var lines = Files.lines(file)) {
      return lines.map(Event::parse).flatMap(Optional::stream).toList();
    }
  }

  synchronized void add(Event event) {
    events.add(event);
    try {
      file.write(event + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    notifyAll();
  }

  void add(String who, String what, Object... keysAndValues) {
    add(Event.of(System.nanoTime(), who, what, keysAndValues));
  }

  synchronized List<Event> events() {
    return List.copyOf(events);
  }

  /** The last event that matches; empty if there is none. */
  synchronized Optional<Event> last(Predicate<Event> wanted) {
    for (int i = events.size() - 1; i >= 0; i--) {
      if (wanted.test(events.get(i))) {
        return Optional.of(events.get(i));
      }
    }
    return Optional.empty();
  }

  synchronized int size() {
    return events.size();
  }

  /** Waits for an event after the first {@code from} ones; empty if none comes in time. */
  synchronized Optional<Event> await(int from, Predicate<Event> wanted, long patienceNanos)
      throws InterruptedException {
    long deadline = System.nanoTime() + patienceNanos;
    int next = from;
    while (true) {
      while (next < events.size()) {
        Event event = events.get(next++);
        if (wanted.test(event)) {
          return Optional.of(event);
        }
      }
      long left = (deadline - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return Optional.empty();
      }
      wait(left);
    }
  }

  @Override
  public synchronized void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
