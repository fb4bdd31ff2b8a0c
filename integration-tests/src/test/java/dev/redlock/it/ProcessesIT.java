package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.harness.ForkedJvm;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several processes lock one name around a counter that is not atomic; the tokens must rise. */
@RedisTest(nodes = 5)
class ProcessesIT {
  private static final int PROCESSES = 3;
  private static final int THREADS = 8;
  private static final int SECTIONS = 50;

  @Tag("thorough")
  @Test
  void sections_threeProcessesOfEightThreads_countExactlyWithTokensInOrder(
      RedisNodes nodes, @TempDir Path dir) throws Exception {
    Path counter = dir.resolve("counter");
    Path tokens = dir.resolve("tokens");
    Files.writeString(counter, "0");
    Files.writeString(tokens, "");
    List<ForkedJvm> workers = new ArrayList<>();
    try {
      for (int i = 0; i < PROCESSES; i++) {
        workers.add(
            ForkedJvm.start(
                Worker.class,
                String.join(",", nodes.uris()),
                counter.toString(),
                tokens.toString()));
      }
      for (ForkedJvm worker : workers) {
        assertThat(worker.awaitExit(Duration.ofSeconds(90))).as(worker.describe()).isZero();
      }
    } finally {
      workers.forEach(ForkedJvm::close);
    }
    assertThat(Files.readString(counter).trim())
        .isEqualTo(String.valueOf(PROCESSES * THREADS * SECTIONS));
    List<Long> seen = Files.readAllLines(tokens).stream().map(Long::valueOf).toList();
    assertThat(seen).hasSize(PROCESSES * THREADS * SECTIONS);
    for (int i = 1; i < seen.size(); i++) {
      assertThat(seen.get(i)).as("token of section " + i).isGreaterThan(seen.get(i - 1));
    }
  }

  /** Reads, adds one and writes, under the lock; appends the token. */
  static final class Worker {
    private Worker() {}

    public static void main(String[] args) throws Exception {
      int failures = work(args[0].split(","), Path.of(args[1]), Path.of(args[2]));
      System.exit(failures == 0 ? 0 : 1); // The client is closed, so all requests have been sent.
    }

    private static int work(String[] uris, Path counter, Path tokens) throws Exception {
      try (Redlock redlock =
          Redlock.builder()
              .nodes(uris)
              .restartGuard(RestartGuard.OFF)
              .defaults(Clients.options().leaseTime(Duration.ofSeconds(10)).build())
              .build()) {
        Clients.voting(redlock, 5);
        DistributedLock lock = redlock.lock("counter");
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = new java.util.concurrent.CopyOnWriteArrayList<>();
        for (int t = 0; t < THREADS; t++) {
          Thread thread =
              new Thread(
                  () -> {
                    try {
                      for (int i = 0; i < SECTIONS; i++) {
                        try (Lease lease = lock.acquire(Duration.ofSeconds(60))) {
                          section(counter, tokens, lease);
                        }
                      }
                    } catch (Exception | Error e) {
                      e.printStackTrace();
                      failures.add(e);
                    }
                  });
          thread.start();
          threads.add(thread);
        }
        for (Thread thread : threads) {
          thread.join();
        }
        return failures.size();
      }
    }

    private static void section(Path counter, Path tokens, Lease lease) throws Exception {
      long value = Long.parseLong(Files.readString(counter).trim());
      try (RandomAccessFile file = new RandomAccessFile(tokens.toFile(), "rw")) {
        file.seek(file.length());
        file.writeBytes(lease.fencingToken().value() + "\n");
      }
      Files.writeString(counter, String.valueOf(value + 1));
    }
  }
}
