package dev.redlock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Four processes run a section under one name again and again, while masters are paused, cut off
 * and killed. Each section takes a file lock of the kernel, which ends with its process: if it is
 * taken, two sections overlap.
 */
@Tag("thorough")
@Timeout(1200)
@RedisTest(nodes = 5, gated = true, locksMayRemain = true)
class OverlapIT {
  private static final int PROCESSES = 4;

  /** 500 when a release is checked. */
  private static final int RUNS = Integer.getInteger("redlock.cli.runs", 16);

  @TempDir private Path folder;
  private final AtomicInteger ran = new AtomicInteger();

  private List<String> section() {
    String file = folder.resolve("kernel-lock").toString();
    String overlaps = folder.resolve("overlaps").toString();
    return List.of("sh", "-c", "flock -n " + file + " sleep 0.3 || echo overlap >> " + overlaps);
  }

  private long overlaps() throws IOException {
    Path file = folder.resolve("overlaps");
    return Files.exists(file) ? Files.readAllLines(file).size() : 0;
  }

  private void inFourProcesses(Callable<Void> run) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(PROCESSES);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < PROCESSES; i++) {
        all.add(
            threads.submit(
                () -> {
                  for (int n = 0; n < RUNS / PROCESSES; n++) {
                    run.call();
                  }
                  return null;
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void runsOfOneName_whileMastersFail_neverOverlap(RedisNodes nodes) throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    Thread faults = new Thread(() -> disturb(nodes, over), "faults");
    faults.start();
    try {
      inFourProcesses(
          () -> {
            List<String> args =
                new ArrayList<>(List.of("-w", "60s", "--lease", "4s", "name", "--"));
            args.addAll(section());
            try (Wrapper wrapper = Wrapper.run(folder, nodes, args.toArray(new String[0]))) {
              int code = wrapper.exitCode();
              assertThat(code).as(wrapper.err()).isIn(0, 69, 75, 137, 143);
              ran.addAndGet(code == 0 ? 1 : 0);
            }
            return null;
          });
    } finally {
      over.set(true);
      faults.join();
    }
    System.out.println(
        "redlock run: " + ran + " sections of " + RUNS + ", " + overlaps() + " overlaps");
    assertThat(overlaps()).isZero();
    assertThat(ran.get()).as("sections that ran").isGreaterThan(RUNS / 2);
  }

  /** One master is dead for the second half, and at most one more is disturbed at a time. */
  private static void disturb(RedisNodes nodes, AtomicBoolean over) {
    for (int i = 0; !over.get(); i++) {
      int node = i % 4;
      pause(300);
      if (i == 10) {
        nodes.get(4).kill();
      }
      if (i % 2 == 0) {
        nodes.get(node).pause();
        pause(600);
        nodes.get(node).resume();
      } else {
        nodes.get(node).gate().dropRequests();
        pause(600);
        nodes.get(node).gate().endFaults();
      }
    }
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void sections_withoutTheLock_overlap() throws Exception {
    inFourProcesses(
        () -> {
          new ProcessBuilder(section()).start().waitFor();
          return null;
        });
    assertThat(overlaps()).as("the control").isPositive();
  }
}
