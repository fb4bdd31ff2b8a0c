package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.harness.ForkedJvm;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Virtual threads. The library is compiled for Java 17, so another JVM runs this test if the
 * machine has one with virtual threads. All virtual threads share one carrier thread: a waiter that
 * blocked it would block all others, including the holder.
 */
@RedisTest(nodes = 5)
class VirtualThreadsIT {
  private static final Duration WAIT = Duration.ofSeconds(60);
  private static final int WAITERS = 1_000;

  @Test
  void waiters_aThousandOnOneCarrier_areServedAndKeepItFree(RedisNodes nodes) throws IOException {
    Optional<Path> jdk = newerJdk();
    assumeThat(jdk).as("a JDK of 21 or later, here or in /usr/lib/jvm").isPresent();
    try (ForkedJvm jvm =
        ForkedJvm.of(Crowd.class)
            .javaHome(jdk.get())
            .jvmArgs(
                "-Djdk.virtualThreadScheduler.parallelism=1",
                "-Djdk.virtualThreadScheduler.maxPoolSize=1")
            .args(String.join(",", nodes.uris()))
            .start()) {
      String said = jvm.awaitLine(line -> line.startsWith("served"), WAIT.multipliedBy(2));
      System.out.println("virtual threads on " + jdk.get() + ": " + said);
      assertThat(said).isEqualTo("served 1000 by one carrier, which was free while all waited");
      assertThat(jvm.awaitExit(WAIT)).isZero();
    }
  }

  private static Optional<Path> newerJdk() throws IOException {
    Path installed = Path.of("/usr/lib/jvm");
    try (Stream<Path> others = Files.isDirectory(installed) ? Files.list(installed) : Stream.of()) {
      return Stream.concat(Stream.of(Path.of(System.getProperty("java.home"))), others.sorted())
          .filter(VirtualThreadsIT::hasVirtualThreads)
          .findFirst();
    }
  }

  private static boolean hasVirtualThreads(Path jdk) {
    try {
      Matcher version =
          Pattern.compile("JAVA_VERSION=\"(\\d+)")
              .matcher(Files.readString(jdk.resolve("release")));
      return version.find() && Integer.parseInt(version.group(1)) >= 21;
    } catch (IOException e) {
      return false; // This directory contains no JDK.
    }
  }

  /** A thousand virtual threads that want one lock. */
  static final class Crowd {
    private Crowd() {}

    public static void main(String[] args) throws Exception {
      System.exit(run(args[0].split(",")) ? 0 : 1);
    }

    private static boolean run(String[] uris) throws Exception {
      try (Redlock redlock =
          Clients.voting(
              Redlock.builder()
                  .nodes(uris)
                  .restartGuard(RestartGuard.OFF)
                  .defaults(Clients.options().queueBound(WAITERS).build())
                  .build(),
              5)) {
        DistributedLock lock = redlock.lock("virtual");
        AtomicInteger inside = new AtomicInteger();
        CountDownLatch asking = new CountDownLatch(WAITERS);
        CountDownLatch served = new CountDownLatch(WAITERS);
        boolean free;
        try (Lease held = lock.acquire(WAIT)) {
          for (int i = 0; i < WAITERS; i++) {
            start(
                () -> {
                  asking.countDown();
                  try (Lease lease = lock.acquire(WAIT)) {
                    if (inside.incrementAndGet() == 1 && lease.isValid()) {
                      served.countDown();
                    }
                    inside.decrementAndGet();
                  }
                });
          }
          asking.await();
          CountDownLatch runs = new CountDownLatch(1);
          start(runs::countDown);
          free = runs.await(20, TimeUnit.SECONDS) && held.isValid();
        }
        boolean all = served.await(WAIT.toSeconds(), TimeUnit.SECONDS);
        System.out.println(
            "served "
                + (WAITERS - served.getCount())
                + " by one carrier, which was "
                + (free ? "free" : "taken")
                + " while all waited");
        return all && free;
      }
    }

    private static void start(Runnable task) throws ReflectiveOperationException {
      Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }
  }
}
