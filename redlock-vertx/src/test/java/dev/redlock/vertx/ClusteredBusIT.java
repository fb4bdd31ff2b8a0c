package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.ForkedJvm;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two JVMs on one clustered event bus. {@code -Dredlock.vertx.handOvers=1000} measures for longer.
 */
@RedisTest(nodes = 3)
@Tag("thorough")
class ClusteredBusIT {
  private static final int MEASURED = Integer.getInteger("redlock.vertx.handOvers", 60);
  private static final int WARM_UPS = MEASURED / 2;
  private static final Duration PATIENCE = BusMember.PATIENCE;

  private int port;

  private ForkedJvm other(List<String> uris, String hints, long pollMillis) {
    port = 20_000 + 2 * (int) (System.nanoTime() / 1_000 % 5_000);
    return ForkedJvm.of(BusMember.class)
        .name("other")
        .args("" + port, String.join(",", uris), hints, "" + pollMillis)
        .start();
  }

  /** Releases here, and waits for the grant there; the times in microseconds, sorted. */
  private static long[] handOvers(VertxRedlock here, ForkedJvm there, int count) {
    long[] micros = new long[count];
    try (Starvation starvation = new Starvation()) {
      int starved = 0;
      for (int i = 0; i < count; i++) {
        VertxLease lease = CheckedVertx.get(here.acquire("a", PATIENCE));
        there.send("wait");
        there.awaitLine("waiting"::equals, PATIENCE);
        BusIT.parkMillis(10); // The nodes have replied to its first request by then.
        long start = System.nanoTime();
        lease.release();
        String got = there.awaitLine(line -> line.startsWith("got "), PATIENCE);
        micros[i] = (Long.parseLong(got.substring(4)) - start) / 1_000; // One clock per machine.
        there.awaitLine("released"::equals, PATIENCE);
        if (starved < count && starvation.since(start) > 0) {
          starved++; // The machine was starved: measure again.
          i--;
        }
      }
    }
    Arrays.sort(micros);
    return micros;
  }

  private static void show(String what, long[] micros) {
    System.out.printf(
        "%s: p50 %d µs, p95 %d µs, max %d µs, load %.1f%n",
        what,
        micros[micros.length / 2],
        micros[micros.length * 95 / 100],
        micros[micros.length - 1],
        CheckedVertx.loadAverage());
  }

  private static void end(ForkedJvm there) {
    there.send("end");
    assertThat(there.awaitExit(PATIENCE)).isZero();
  }

  @Test
  void handOver_busAloneAndThenPartitioned_takesMillisecondsOrThePoll(RedisNodes nodes) {
    try (ForkedJvm there = other(nodes.uris(), "deaf", 2_000);
        BusMember here = new BusMember(0, port)) {
      VertxRedlock redlock = here.client(nodes.uris(), "deaf", 2_000);
      there.awaitLine("ready"::equals, PATIENCE);
      handOvers(redlock, there, WARM_UPS);
      long[] micros = handOvers(redlock, there, MEASURED);
      show("hand-over with the bus alone", micros);
      assertThat(micros[MEASURED / 2]).as("median").isLessThan(100_000);
      here.gate.blackHole();
      there.send("cut");
      there.awaitLine("cut"::equals, PATIENCE);
      show("hand-over with the bus partitioned", handOvers(redlock, there, 3));
      there.send("hold");
      there.awaitLine("held"::equals, PATIENCE);
      Future<VertxLease> next = redlock.acquire("a", PATIENCE);
      BusIT.parkMillis(50);
      assertThat(next.isComplete()).as("granted while another holds it").isFalse();
      there.send("release");
      there.awaitLine("released"::equals, PATIENCE);
      CheckedVertx.get(CheckedVertx.get(next).release());
      here.gate.endFaults();
      there.send("mend");
      there.awaitLine("mended"::equals, PATIENCE);
      Awaitility.await("hints arrive again")
          .atMost(30, TimeUnit.SECONDS)
          .until(
              () -> {
                int before = here.sent.get();
                handOvers(redlock, there, 1);
                return here.sent.get() > before;
              });
      end(there);
    }
  }
}
