package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.testkit.ForkedJvm;
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
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * A fleet of five processes, each with a {@link LockedVerticle}; the one that works is killed,
 * stopped beyond its lease, or cut off, in turn. {@code -Dredlock.fleet.kills=20} does it more
 * often.
 */
@RedisTest(nodes = 3, locksMayRemain = true)
class FleetIT {
  private static final int FLEET = 5;
  private static final int KILLS = Integer.getInteger("redlock.fleet.kills", 3);
  private static final int CLEAN_STOPS = 3;
  private static final Duration LEASE = Duration.ofMillis(1_500);
  private static final long STARVED_NANOS = 100_000_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** When one lease was worked under, on the clock that all processes of this machine share. */
  private static final class Span {
    final int member;
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;

    /** When it ran last, lease or not, and for how long it did not come to it in between. */
    long ran = Long.MIN_VALUE;

    long gap;

    /** Stopped by a signal: it cannot know, before it runs again, that it is over. */
    boolean stopped;

    Span(int member) {
      this.member = member;
    }
  }

  private final Starvation starvation = new Starvation();
  private final List<ForkedJvm> members = new ArrayList<>();
  private final List<List<TcpGate>> gates = new ArrayList<>();
  private final List<List<String>> told = new ArrayList<>();

  /** Token to span. Filled by the threads that read the members' output; guarded by itself. */
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
   * Waits until another lease than this one is worked under; how long after {@code since}, not
   * counting when nobody was run.
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
      eventually("somebody works", () -> newest().member >= 0);
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
      System.out.printf("fleet: taken over after %s ms; after clean stops %s ms%n", took, clean);
      assertNobodyOverlaps();
      took.values()
          .forEach(
              all ->
                  assertThat(all)
                      .as("taken over in " + took)
                      .allMatch(millis -> millis <= LEASE.toMillis() + 500));
      if (CheckedVertx.loadAverage() < Runtime.getRuntime().availableProcessors()) {
        assertThat(clean).as("after a clean stop").allMatch(millis -> millis <= 100);
      } else {
        assertThat(clean).as("after a clean stop").anyMatch(millis -> millis <= 100);
      }
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
        jvm.resume(); // It must notice before it works on.
        eventually("the stopped one noticed", () -> hasTold(worker.member, "inner stopped"));
      }
      default -> {
        gates.get(worker.member).forEach(TcpGate::blackHole);
        took.computeIfAbsent("partition", w -> new ArrayList<>()).add(takenOverMillis(worker, at));
        // That it came before, the time stamps prove.
        eventually("the one cut off noticed", () -> hasTold(worker.member, "inner stopped"));
        gates.get(worker.member).forEach(TcpGate::heal);
      }
    }
  }

  private long stopCleanly() {
    Span worker = newest();
    long at = System.nanoTime();
    members.get(worker.member).send("undeploy");
    long took = takenOverMillis(worker, at);
    members.get(worker.member).send("deploy");
    return took;
  }

  private void assertNobodyOverlaps() {
    synchronized (spans) {
      long before = Long.MIN_VALUE;
      long ran = Long.MIN_VALUE;
      for (Map.Entry<Long, Span> e : spans.entrySet()) {
        Span span = e.getValue();
        assertThat(span.first)
            .as("begin of the work under token " + e.getKey() + " by member " + span.member)
            .isGreaterThan(before)
            .as("the one before ran on, beyond its lease")
            .isGreaterThan(ran);
        before = span.last;
        // With nobody running its event loop it cannot stop in time; that is what tokens are for.
        ran = span.stopped || span.gap > STARVED_NANOS ? before : span.ran;
      }
      assertThat(spans).hasSizeGreaterThan(KILLS + CLEAN_STOPS);
    }
  }
}
