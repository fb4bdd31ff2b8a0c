package dev.redlock.it;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A worker JVM: threads acquire one lock again and again; prints the number of grants. */
final class Sections {
  private Sections() {}

  /** Arguments: URIs, threads, warm-up and run in milliseconds, fair. */
  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[1]);
    Duration warmUp = Duration.ofMillis(Long.parseLong(args[2]));
    Duration run = Duration.ofMillis(Long.parseLong(args[3]));
    LockOptions options = Clients.options().fair(Boolean.parseBoolean(args[4])).build();
    try (Redlock redlock =
        Redlock.builder()
            .nodes(args[0].split(","))
            .restartGuard(RestartGuard.OFF)
            .defaults(options)
            .build()) {
      Clients.voting(redlock, 5);
      System.out.println("ready");
      System.in.read(); // All processes start together.
      DistributedLock lock = redlock.lock("contended");
      long begin = System.nanoTime() + warmUp.toNanos();
      long end = begin + run.toNanos();
      AtomicLong entered = new AtomicLong();
      AtomicLong longest = new AtomicLong();
      List<Thread> all = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        Thread thread =
            new Thread(
                () -> {
                  while (System.nanoTime() - end < 0) {
                    long asked = System.nanoTime();
                    try (Lease lease = lock.acquire(Duration.ofSeconds(30))) {
                      long now = System.nanoTime();
                      if (now - begin >= 0 && now - end < 0) {
                        lease.ensureValid();
                        entered.incrementAndGet();
                        longest.accumulateAndGet(now - asked, Math::max);
                      }
                    }
                  }
                });
        thread.start();
        all.add(thread);
      }
      for (Thread thread : all) {
        thread.join();
      }
      System.out.println("entered " + entered + " longest-ms " + longest.get() / 1_000_000);
    }
    System.exit(0);
  }
}
