package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.ForkedJvm;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import dev.redlock.testkit.TcpGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A fleet of five processes, each with a {@link LockedVerticle}. The test kills the worker, stops
 * it beyond its lease, or cuts it off, in turn. {@code -Dredlock.fleet.kills=20} sets the number of
 * faults.
 */
@RedisTest(nodes = 3, locksMayRemain = true)
@Tag("thorough")
class FleetIT {
  private static final int FLEET = 5;
  private static final int KILLS = Integer.getInteger("redlock.fleet.kills", 3);
  private static final int CLEAN_STOPS = 3;

  /** Each way of {@link #live} at least once. */
  private static final int LIFE = Math.max(3, KILLS);

  private static final Duration LEASE = Duration.ofMillis(1_500);
  private static final long STARVED_NANOS = 100_000_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /**
   * The time of the work under one lease, on the clock that all processes of this machine share.
   */
  private static final class Span {
    final int member;
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;

    /** The last time at which the member ran, with or without a lease, and its longest pause. */
    long ran = Long.MIN_VALUE;

    long gap;

    /** Stopped by a signal: before it resumes, it cannot know that its lease has ended. */
    boolean stopped;

    Span(int member) {
      this.member = member;
    }
  }

  private final Starvation starvation = new Starvation();
  private final List<ForkedJvm> members = new ArrayList<>();
  private final List<List<TcpGate>> gates = new ArrayList<>();
  private final List<List<String>> told = new ArrayList<>();
  private final List<String> blocked = new CopyOnWriteArrayList<>();

  /** Token to span. Written by the threads that read the members' output; guarded by itself. */
  private final Map<Long, Span> spans = new TreeMap<>();

  private void hear(int member, String line) {
    String[] words = line.split(" ");
    if (words[0].equals("R")) {
      synchronized (spans) {
        Span span = spans.computeIfAbsent(Long.valueOf(words[1]), token -> new Span(member));
        long at = Long.parseLong(words[2]);
        span.gap = span.ran == Long.MIN_VALUE ? 0 : Math.max(span.gap, at - span.ran);
        span.ran = at;
      }
    } else if (words[0].equals("T")) {
      synchronized (spans) {
        Span span = spans.computeIfAbsent(Long.valueOf(words[1]), token -> new Span(member));
        long at = Long.parseLong(words[2]);
        span.first = Math.min(span.first, at);
        span.last = Math.max(span.last, at);
      }
    } else if (words[0].equals("blocked")) {
      blocked.add("member " + member + ": " + line);
    } else {
      synchronized (told) {
        told.get(member).add(line);
      }
    }
  }

  private boolean hasTold(int member, String line) {
    synchronized (told) {
      return told.get(member).remove(line);
    }
  }

  private void launch(RedisNodes nodes) {
    int member = members.size();
    List<TcpGate> own = new ArrayList<>();
    for (RedisNode node : nodes) {
      own.add(TcpGate.inFrontOf("127.0.0.1", node.directPort()));
    }
    gates.add(own);
    synchronized (told) {
      told.add(new ArrayList<>());
    }
    members.add(
        ForkedJvm.of(Member.class)
            .name("member-" + member)
            .jvmArgs("-Xmx96m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
            .args(
                String.join(",", own.stream().map(g -> "redis://127.0.0.1:" + g.port()).toList()),
                "" + LEASE.toMillis())
            .onLine(line -> hear(member, line))
            .start());
  }

  private Span newest() {
    synchronized (spans) {
      return spans.values().stream()
          .filter(span -> span.last > Long.MIN_VALUE)
          .reduce((one, other) -> other)
          .orElseGet(() -> new Span(-1));
    }
  }

  private static void eventually(String what, java.util.concurrent.Callable<Boolean> condition) {
    Awaitility.await(what).atMost(PATIENCE).pollInterval(2, TimeUnit.MILLISECONDS).until(condition);
  }

  /**
   * Waits until a member works under another lease; returns the time since {@code since}, without
   * the time in which the machine was starved.
   */
  private long takenOverMillis(Span before, long sinceNanos) {
    eventually("taken over", () -> newest() != before);
    return (newest().first - sinceNanos - starvation.since(sinceNanos)) / 1_000_000;
  }

  private static void working(long millis) {
    BusIT.parkMillis(millis);
  }

  @Test
  void worker_killedStoppedAndCutOff_isReplacedAndNeverDoubled(RedisNodes nodes) {
    try {
      for (int i = 0; i < FLEET; i++) {
        launch(nodes);
      }
      for (int i = 0; i < FLEET; i++) {
        int member = i;
        eventually("member " + i + " is up", () -> hasTold(member, "up"));
      }
      eventually("a member works", () -> newest().member >= 0);
      Map<String, List<Long>> took = new HashMap<>();
      for (int k = 0; k < KILLS; k++) {
        working(300);
        crash(k, nodes, took);
      }
      List<Long> clean = new ArrayList<>();
      for (int k = 0; k < CLEAN_STOPS; k++) {
        working(300);
        clean.add(stopCleanly());
      }
      for (int k = 0; k < LIFE; k++) {
        working(300);
        live(k, took);
      }
      System.out.printf("fleet: taken over after %s ms; after clean stops %s ms%n", took, clean);
      assertThat(blocked).as("blocked event loops").isEmpty();
      assertNoOverlaps();
      took.values()
          .forEach(
              all ->
                  assertThat(all)
                      .as("taken over in " + took)
                      .allMatch(millis -> millis <= LEASE.toMillis() + 1_000));
      // A lease that expires has at least two thirds of its time left, and no hand-over waited for
      // that. The hand-over without a fault shows the time that a release takes.
      assertThat(clean)
          .as("after a clean stop")
          .allMatch(millis -> millis <= LEASE.toMillis() / 2)
          .anyMatch(millis -> millis <= 100);
    } finally {
      members.forEach(ForkedJvm::close);
      gates.forEach(all -> all.forEach(TcpGate::close));
      starvation.close();
    }
  }

  private void crash(int k, RedisNodes nodes, Map<String, List<Long>> took) {
    Span worker = newest();
    ForkedJvm jvm = members.get(worker.member);
    long at = System.nanoTime();
    switch (k % 3) {
      case 0 -> {
        jvm.kill();
        took.computeIfAbsent("SIGKILL", w -> new ArrayList<>()).add(takenOverMillis(worker, at));
        if (KILLS > 3) {
          launch(nodes);
          int fresh = members.size() - 1;
          eventually("its replacement is up", () -> hasTold(fresh, "up"));
        }
      }
      case 1 -> {
        worker.stopped = true;
        jvm.pause();
        took.computeIfAbsent("SIGSTOP", w -> new ArrayList<>()).add(takenOverMillis(worker, at));
        working(300);
        jvm.resume(); // It must notice the end of its lease before it continues.
        eventually("the stopped one noticed", () -> hasTold(worker.member, "inner stopped"));
      }
      default -> {
        gates.get(worker.member).forEach(TcpGate::blackHole);
        took.computeIfAbsent("partition", w -> new ArrayList<>()).add(takenOverMillis(worker, at));
        // The time stamps prove that it stopped before.
        eventually("the one cut off noticed", () -> hasTold(worker.member, "inner stopped"));
        gates.get(worker.member).forEach(TcpGate::endFaults);
      }
    }
  }

  /** The work undeploys itself, fails to start, or fails to stop. */
  private void live(int k, Map<String, List<Long>> took) {
    Span worker = newest();
    ForkedJvm jvm = members.get(worker.member);
    String what =
        switch (k % 3) {
          case 0 -> "undeploys itself";
          case 1 -> "fails to start elsewhere";
          default -> "fails to stop";
        };
    if (k % 3 == 1) {
      members.stream().filter(m -> m != jvm && m.isAlive()).forEach(m -> m.send("fail start"));
    } else if (k % 3 == 2) {
      jvm.send("fail stop");
    }
    long at = System.nanoTime();
    if (k % 3 == 0) {
      jvm.send("undeploy inner");
      took.computeIfAbsent(what, w -> new ArrayList<>()).add(takenOverMillis(worker, at));
    } else {
      took.computeIfAbsent(what, w -> new ArrayList<>()).add(stopCleanly());
    }
  }

  private long stopCleanly() {
    Span worker = newest();
    long at = System.nanoTime();
    members.get(worker.member).send("undeploy");
    members.get(worker.member).send("deploy");
    return takenOverMillis(worker, at);
  }

  private void assertNoOverlaps() {
    synchronized (spans) {
      long before = Long.MIN_VALUE;
      long ran = Long.MIN_VALUE;
      for (Map.Entry<Long, Span> e : spans.entrySet()) {
        Span span = e.getValue();
        assertThat(span.first)
            .as("start of the work under token " + e.getKey() + " by member " + span.member)
            .isGreaterThan(before)
            .as("the previous worker continued beyond its lease")
            .isGreaterThan(ran);
        before = span.last;
        // If the machine does not run its event loop, it cannot stop in time; fencing tokens
        // protect against that.
        ran = span.stopped || span.gap > STARVED_NANOS ? before : span.ran;
      }
      assertThat(spans).hasSizeGreaterThan(KILLS + CLEAN_STOPS);
    }
  }
}
