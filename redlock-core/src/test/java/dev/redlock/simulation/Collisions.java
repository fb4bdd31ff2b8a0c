package dev.redlock.simulation;

import dev.redlock.AcquireReport;
import dev.redlock.LockOptions;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Waiter;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Measures what the door is for: processes that want one name at once, and processes that wait for
 * one holder; with the door, and with jitter alone. Everybody has a process of their own; five
 * nodes; a message takes 50 to 100 µs.
 *
 * <p>Jitter alone is the same code with the one line changed that chooses the door.
 */
public final class Collisions {
  private static final int NODES = 5;
  private static final long MICROS = 1000;
  private static final long LEAST_DELAY = 50 * MICROS;
  private static final long JITTER = 50 * MICROS;
  static final long ROUND_TRIP = 2 * LEAST_DELAY + JITTER;
  private static final int TIMES = 200;

  private static final Mutant JITTER_ALONE =
      Mutant.variant(
          "jitter alone",
          Mutant.protocol(
              "Contention",
              "boolean all = allAtOnce || nodes.count() == 1;",
              "boolean all = true;"));

  /**
   * What one collision, or one hand-over, took.
   *
   * @param rounds the most questions that any of the clients has put
   */
  record Sample(long nanos, long commands, int rounds) {}

  private final World world;
  private final List<Contender> contenders = new ArrayList<>();

  private Collisions(long seed, int clients) {
    LockOptions options = LockOptions.builder().leaseTime(Duration.ofSeconds(10)).build();
    world =
        new World(new Rng(seed), new Scenario(NODES, clients, options, LEAST_DELAY, JITTER), false);
    world.faults = false;
    for (SimClient client : world.clients) {
      client.start();
      contenders.add(new Contender(client));
    }
    world.runUntil(10 * Scenario.MS);
  }

  /** One who wants the lock, holds it for a while, and lets go. */
  private final class Contender {
    private final SimClient client;
    private long grantedAt;
    private long releasedAt;

    Contender(SimClient client) {
      this.client = client;
    }

    private final class Wish extends Waiter implements SimUser.Asker {
      private final SimLock lock;
      private final long holdNanos;

      Wish(SimLock lock, long now, long holdNanos) {
        super(lock.keys, world.scenario.terms, now, now + 60 * Scenario.SECOND, false);
        this.lock = lock;
        this.holdNanos = holdNanos;
      }

      @Override
      public void granted(HeldLease lease) {
        grantedAt = world.now;
        world.at(
            world.now + holdNanos,
            () -> {
              releasedAt = world.now;
              lease.askRelease();
              SimTicket ticket = new SimTicket(client, "release");
              lock.act((m, now, wall) -> m.release(lease, ticket, now, wall));
            });
      }

      @Override
      public void refused(AcquireReport report) {
        throw new Violation("liveness", client.name() + " waited in vain");
      }
    }

    /** Wants the lock at that time, and holds it for so long. */
    void wants(long at, long holdNanos) {
      world.at(
          at,
          () -> {
            SimLock lock = client.lock(0); // Not earlier: an idle one is forgotten.
            Wish wish = new Wish(lock, client.mono(), holdNanos);
            lock.act((m, now, wall) -> m.submit(wish, now, wall));
          });
    }
  }

  private long commands() {
    long sum = 0;
    for (SimClient client : world.clients) {
      for (SimLink link : client.links) {
        sum += link.sent;
      }
    }
    return sum;
  }

  private int rounds() {
    int most = 0;
    for (SimClient client : world.clients) {
      most = Math.max(most, client.rounds);
    }
    return most;
  }

  private boolean somebodyHolds() {
    return contenders.stream().anyMatch(c -> c.grantedAt != 0);
  }

  /** All want the free name within one message's time; until one of them has it. */
  static Sample collide(long seed, int clients) {
    Collisions c = new Collisions(seed, clients);
    long start = c.world.now;
    long before = c.commands();
    for (Contender contender : c.contenders) {
      contender.wants(start + c.world.rng.between(0, JITTER), 20 * Scenario.SECOND);
    }
    while (!c.somebodyHolds()) {
      c.world.runUntil(c.world.now + 10 * MICROS);
      if (c.world.now - start > 30 * Scenario.SECOND) {
        throw new Violation("liveness", "not settled within 30 s");
      }
    }
    return new Sample(c.world.now - start, c.commands() - before, c.rounds());
  }

  /** One holds, the others wait; hand-overs one after another until all had it. */
  static List<Sample> handOver(long seed, int waiting, boolean doorHung) {
    Collisions c = new Collisions(seed, waiting + 1);
    long start = c.world.now;
    c.contenders.get(0).wants(start, 200 * Scenario.MS);
    for (Contender contender : c.contenders.subList(1, waiting + 1)) {
      contender.wants(start + c.world.rng.between(20, 100) * Scenario.MS, 5 * Scenario.MS);
    }
    if (doorHung) {
      c.world.runUntil(start + 150 * Scenario.MS);
      c.door().pause(60 * Scenario.SECOND);
    }
    List<Sample> samples = new ArrayList<>();
    int served = 1;
    long released = 0;
    c.world.runUntil(start + 199 * Scenario.MS);
    long before = c.commands();
    int roundsBefore = c.rounds();
    while (served <= waiting) {
      c.world.runUntil(c.world.now + 10 * MICROS);
      if (c.world.now - start > 120 * Scenario.SECOND) {
        throw new Violation("liveness", served - 1 + " of " + waiting + " served within 120 s");
      }
      for (Contender contender : c.contenders) {
        released = Math.max(released, contender.releasedAt);
      }
      long had = c.contenders.stream().filter(x -> x.grantedAt != 0).count();
      if (had > served) {
        served++;
        samples.add(
            new Sample(c.world.now - released, c.commands() - before, c.rounds() - roundsBefore));
        before = c.commands();
        roundsBefore = c.rounds();
      }
    }
    return samples;
  }

  private SimNode door() {
    int best = 0;
    long most = Long.MIN_VALUE;
    for (int i = 0; i < NODES; i++) {
      long asked = 0;
      for (SimClient client : world.clients) {
        asked += client.links[i].sent;
      }
      if (asked > most) {
        most = asked;
        best = i;
      }
    }
    return world.nodes[best];
  }

  // Figures. Called by reflection too, beside changed classes: types of the JDK only.

  /**
   * For 2 to 10 clients: median and 95th percentile of the time to settle, most, in round trips,
   * commands, and the most rounds of any client; then for hand-overs with and without a hung door:
   * median and 95th percentile in round trips, and commands.
   */
  public static List<double[]> figures(int times) {
    List<double[]> rows = new ArrayList<>();
    for (int clients = 2; clients <= 10; clients++) {
      List<Sample> samples = new ArrayList<>();
      for (int i = 1; i <= times; i++) {
        samples.add(collide(i * 100L + clients, clients));
      }
      rows.add(row(samples));
    }
    for (boolean hung : new boolean[] {false, true}) {
      List<Sample> samples = new ArrayList<>();
      for (int i = 1; i <= Math.max(1, times / 10); i++) {
        samples.addAll(handOver(i, 20, hung));
      }
      rows.add(row(samples));
    }
    return rows;
  }

  private static double[] row(List<Sample> samples) {
    double[] nanos = samples.stream().mapToDouble(s -> (double) s.nanos() / ROUND_TRIP).toArray();
    Arrays.sort(nanos);
    double commands = samples.stream().mapToLong(Sample::commands).average().orElse(0);
    double rounds = samples.stream().mapToInt(Sample::rounds).max().orElse(0);
    return new double[] {
      nanos[nanos.length / 2],
      nanos[(int) (nanos.length * 0.95)],
      nanos[nanos.length - 1],
      commands,
      rounds
    };
  }

  /** Prints both tables. */
  static void print(Path core, PrintWriter out) throws Exception {
    List<double[]> door = figures(TIMES);
    out.println("simulate: with the door measured; now with jitter alone");
    out.flush();
    List<double[]> jitter = MutantHunt.figures(core, JITTER_ALONE, TIMES);
    out.println();
    out.println("Times in round trips (" + ROUND_TRIP / MICROS + " µs), N = 5, per " + TIMES + ".");
    out.println();
    out.println(
        "| | door: median | p95 | most | commands | rounds"
            + " | jitter: median | p95 | most | commands | rounds |");
    out.println("|---|---|---|---|---|---|---|---|---|---|---|");
    for (int i = 0; i < door.size(); i++) {
      String what =
          i < 9
              ? (i + 2) + " clients want a free name"
              : i == 9 ? "hand-over, 20 processes wait" : "the same, door hung";
      out.println("| " + what + cells(door.get(i)) + cells(jitter.get(i)) + " |");
    }
    out.flush();
  }

  private static String cells(double[] row) {
    return String.format(
        Locale.ROOT, " | %.1f | %.1f | %.1f | %.0f | %.0f", row[0], row[1], row[2], row[3], row[4]);
  }
}
