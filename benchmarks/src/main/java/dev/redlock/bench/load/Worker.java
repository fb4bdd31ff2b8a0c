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
 * A process whose threads lock one name again and again. It reads lines that say when to start and
 * for how long. It replies with one line per section and a last line.
 */
public final class Worker {
  private Worker() {}

  /** Arguments: system, number of threads, addresses. */
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
      int caller = i;
      Thread thread =
          new Thread(
              () -> {
                List<Section> own = new ArrayList<>();
                try {
                  for (long asked = System.nanoTime(); asked - end < 0; asked = System.nanoTime()) {
                    Held held = client.acquire("shared");
                    long granted = System.nanoTime();
                    long releasing = System.nanoTime();
                    held.release();
                    own.add(new Section(caller, asked, granted, releasing));
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
