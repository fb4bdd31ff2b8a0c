package dev.redlock.bench.load;

import dev.redlock.bench.system.Held;
import dev.redlock.bench.system.LockClient;
import dev.redlock.bench.system.Peer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that wants one name with some threads, again and again. Told by lines when to begin and
 * for how long; answers with one line per section, in nanoseconds of the clock that all processes
 * of a machine share (Linux and macOS), and a last one.
 */
public final class Worker {
  private Worker() {}

  /** A section as its process saw it. */
  public record Section(long askedNanos, long grantedNanos, long releasedNanos) {
    /** As {@link #toString} printed it. */
    public static Section parse(String line) {
      String[] parts = line.split(" ", -1);
      return new Section(
          Long.parseLong(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]));
    }

    @Override
    public String toString() {
      return askedNanos + " " + grantedNanos + " " + releasedNanos;
    }
  }

  /** System, number of threads, addresses. */
  public static void main(String[] args) throws Exception {
    Peer peer = Peer.labelled(args[0]);
    int threads = Integer.parseInt(args[1]);
    try (LockClient client = peer.connect(List.of(args).subList(2, args.length));
        BufferedReader orders =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      System.out.println("ready");
      for (String order = orders.readLine(); order != null; order = orders.readLine()) {
        System.out.println(drive(client, threads, Duration.ofMillis(Long.parseLong(order))));
      }
    }
    System.exit(0);
  }

  private static String drive(LockClient client, int threads, Duration time)
      throws InterruptedException {
    List<Section> sections = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    List<Thread> running = new ArrayList<>();
    long end = System.nanoTime() + time.toNanos();
    for (int i = 0; i < threads; i++) {
      Thread thread =
          new Thread(
              () -> {
                List<Section> own = new ArrayList<>();
                try {
                  for (long asked = System.nanoTime(); asked - end < 0; asked = System.nanoTime()) {
                    Held held = client.acquire("shared");
                    long granted = System.nanoTime();
                    long released = System.nanoTime();
                    held.release();
                    own.add(new Section(asked, granted, released));
                  }
                } catch (Exception e) {
                  synchronized (failures) {
                    failures.add("failed " + e);
                  }
                }
                synchronized (sections) {
                  sections.addAll(own);
                }
              });
      running.add(thread);
      thread.start();
    }
    for (Thread thread : running) {
      thread.join();
    }
    StringBuilder out = new StringBuilder();
    sections.forEach(section -> out.append(section).append('\n'));
    failures.forEach(failure -> out.append(failure.replace('\n', ' ')).append('\n'));
    return out.append("end").toString();
  }
}
