package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.testkit.RedisNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An operator moves slots with many keys while clients work. The build moves a few small slots;
 * {@code -Dredlock.reshard.slots}, {@code .keys} and {@code .sections} set more.
 */
@Tag("thorough")
class ReshardIT {
  private static final int SLOTS = Integer.getInteger("redlock.reshard.slots", 6);
  private static final int MAX_KEYS = Integer.getInteger("redlock.reshard.keys", 1_000);
  private static final int SECTIONS = Integer.getInteger("redlock.reshard.sections", 800);
  private static final int CLIENTS = 4;
  private static final int TAGS = 8;
  private static final int HELD = 8; // Of each client.
  private static final String CLI = System.getProperty("redlock.redisCli", "redis-cli");
  private static final String WARM = "{warm}"; // Not in one of the lowest slots.
  private static final int WARM_MOVES = 4;
  private static final Duration WAIT = Duration.ofSeconds(30);

  /** On a starved machine a vote may take longer than the default. */
  private static final LockOptions OPTIONS =
      LockOptions.builder().nodeTimeout(Duration.ofMillis(500)).build();

  /** Held during the whole test; a client that cannot extend loses it within 3 s. */
  private static final LockOptions SHORT =
      OPTIONS.toBuilder().leaseTime(Duration.ofSeconds(3)).build();

  @ParameterizedTest
  @EnumSource(
      value = ClusterReleaseHints.class,
      names = {"SHARDED_PUBSUB", "STREAM"})
  void sections_whileSlotsWithManyKeysMove_areExact_andNoHolderLosesItsLease(
      ClusterReleaseHints hints) throws Exception {
    try (RedisClusterNodes cluster = cluster()) {
      whileSlotsMove(cluster, hints, mover -> mover::byMigrate);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = ClusterReleaseHints.class,
      names = {"SHARDED_PUBSUB", "STREAM"})
  void sections_whileSlotsMoveAtOnce_areExact_andNoHolderLosesItsLease(ClusterReleaseHints hints)
      throws Exception {
    try (RedisClusterNodes cluster = cluster()) {
      assumeTrue(
          String.valueOf(cluster.get(0).command("CLUSTER", "HELP")).contains("MIGRATESLOTS"),
          "needs a server with CLUSTER MIGRATESLOTS (Valkey 9): -Dredlock.redis.binary");
      whileSlotsMove(cluster, hints, mover -> mover::byCopy);
    }
  }

  private static void whileSlotsMove(
      RedisClusterNodes cluster,
      ClusterReleaseHints hints,
      Function<SlotMover, SlotMover.Steps> steps)
      throws Exception {
    long seed = System.nanoTime();
    List<String> tags = IntStream.range(0, TAGS).mapToObj(i -> "{r" + i + "}").toList();
    Random random = new Random(seed);
    try (SlotMover mover = new SlotMover(cluster, random, MAX_KEYS);
        Work work = new Work(cluster, hints, tags, seed)) {
      work.warmUp(mover, steps.apply(mover));
      work.begin();
      long begin = System.nanoTime();
      while (mover.moved() < SLOTS || work.sections.get() < SECTIONS) {
        mover.move(tags.get(random.nextInt(TAGS)), steps.apply(mover));
        assertThat(work.failures).isEmpty();
      }
      long millis = (System.nanoTime() - begin) / 1_000_000;
      work.end();
      System.out.printf(
          "cluster: %s, %d slots with %d keys moved (longest %d ms) in %d ms%n%s",
          hints, mover.moved(), mover.keys(), mover.longestMillis(), millis, work);
      System.out.println("cluster: slow commands of the servers: " + slowCommands(cluster));
      work.check();
    }
    assertThat(check(cluster)).contains("All nodes agree").doesNotContain("[WARNING]", "[ERR]");
  }

  /** The tool moves the lowest slots of a master; the locks live in these. */
  @Test
  void sections_whileRedisCliReshards_areExact_andNoHolderLosesItsLease() throws Exception {
    assumeTrue(hasCli(), "needs redis-cli, or -Dredlock.redisCli");
    long seed = System.nanoTime();
    List<String> tags = tagsOfSlots(SLOTS);
    try (RedisClusterNodes cluster = cluster();
        SlotMover filler = new SlotMover(cluster, new Random(seed), MAX_KEYS);
        Work work = new Work(cluster, ClusterReleaseHints.STREAM, tags, seed)) {
      long keys = 0;
      for (String tag : tags) {
        keys += filler.fill(tag, cluster.get(0));
      }
      work.warmUp(filler, filler::byMigrate);
      work.begin();
      long begin = System.nanoTime();
      String said = reshard(cluster, cluster.get(0), cluster.get(1));
      long millis = (System.nanoTime() - begin) / 1_000_000;
      work.end();
      System.out.printf(
          "cluster: redis-cli moved %d slots with %d keys in %d ms%n%s", SLOTS, keys, millis, work);
      System.out.println("cluster: slow commands of the servers: " + slowCommands(cluster));
      work.check();
      for (String tag : tags) {
        assertThat(cluster.masterOf(tag)).as(said).isSameAs(cluster.get(1));
      }
      assertThat(check(cluster)).contains("All nodes agree").doesNotContain("[WARNING]", "[ERR]");
    }
  }

  private static RedisClusterNodes cluster() {
    return RedisClusterNodes.builder()
        .replicas(0)
        .nodeTimeout(Duration.ofSeconds(15))
        .serverArgs("--slowlog-log-slower-than", "100000")
        .start();
  }

  /** A tag for each of the lowest slots. */
  private static List<String> tagsOfSlots(int slots) {
    String[] tags = new String[slots];
    int missing = slots;
    for (int i = 0; missing > 0; i++) {
      String tag = "{r" + i + "}";
      int slot = RedisClusterNodes.slot(tag);
      if (slot < slots && tags[slot] == null) {
        tags[slot] = tag;
        missing--;
      }
    }
    return List.of(tags);
  }

  private static String reshard(RedisClusterNodes cluster, RedisNode from, RedisNode to)
      throws Exception {
    String said =
        cli(
            "--cluster",
            "reshard",
            "127.0.0.1:" + from.directPort(),
            "--cluster-from",
            String.valueOf(from.command("CLUSTER", "MYID")),
            "--cluster-to",
            String.valueOf(to.command("CLUSTER", "MYID")),
            "--cluster-slots",
            Integer.toString(SLOTS),
            "--cluster-yes");
    cluster.awaitReady();
    return said;
  }

  /** The commands that blocked a server for 100 ms or more, without their arguments. */
  private static String slowCommands(RedisClusterNodes cluster) {
    List<String> slow = new ArrayList<>();
    for (RedisNode node : cluster) {
      for (Object entry : (List<?>) node.command("SLOWLOG", "GET", "100")) {
        List<?> fields = (List<?>) entry;
        List<?> words = (List<?>) fields.get(3);
        slow.add(words.get(0) + " " + (Long) fields.get(2) / 1_000 + " ms");
      }
    }
    return slow.isEmpty() ? "none" : String.join(", ", slow);
  }

  /** Four clients: sections that only the lock protects, free names, and leases held throughout. */
  private static final class Work implements AutoCloseable {
    private final List<Redlock> clients = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final List<Lease> held = new ArrayList<>();
    private final Queue<Object> failures = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicInteger sections = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final Latencies free = new Latencies();
    private final Latencies released = new Latencies();
    private final PlainWrites plain;
    private final List<String> tags;
    private final long seed;
    private final int[] counters;
    private final long[] tokens;
    private final AtomicInteger[] visits;

    Work(RedisClusterNodes cluster, ClusterReleaseHints hints, List<String> tags, long seed) {
      this.tags = tags;
      this.seed = seed;
      counters = new int[tags.size()];
      tokens = new long[tags.size()];
      visits = new AtomicInteger[tags.size()];
      Arrays.setAll(visits, i -> new AtomicInteger());
      plain = new PlainWrites(cluster.uris(), tags, seed);
      ClusterOptions options = ClusterOptions.builder().releaseHints(hints).build();
      for (int c = 0; c < CLIENTS; c++) {
        clients.add(ClusterClients.start(cluster.uris(), options));
      }
    }

    /**
     * Lets all clients compete for a lock in a slot that moves, before anything is measured: the
     * JVM loads and compiles that way of the client for the first time, and the clients connect for
     * their first subscriptions.
     */
    void warmUp(SlotMover mover, SlotMover.Steps steps) throws InterruptedException {
      AtomicBoolean warm = new AtomicBoolean();
      List<Thread> warming = new ArrayList<>();
      for (Redlock client : clients) {
        Thread thread =
            new Thread(
                () -> {
                  while (!warm.get()) {
                    lock(client, "warm_" + WARM).close();
                  }
                });
        warming.add(thread);
        thread.start();
      }
      try {
        for (int i = 0; i < WARM_MOVES; i++) {
          mover.move(WARM, steps);
        }
      } finally {
        warm.set(true);
        for (Thread thread : warming) {
          thread.join();
        }
      }
    }

    void begin() {
      for (int c = 0; c < CLIENTS; c++) {
        Redlock client = clients.get(c);
        String own = "own" + c + "_";
        int leases = Math.min(HELD, tags.size());
        for (int t = 0; t < leases; t++) {
          hold(client, "held" + c + "_" + tags.get(t * tags.size() / leases));
        }
        Random random = new Random(seed + c);
        Random other = new Random(~seed + c);
        start(() -> section(client, random.nextInt(tags.size())));
        start(() -> free(client, own + other.nextInt(50) + "_" + any(other)));
      }
      plain.start();
    }

    private String any(Random random) {
      return tags.get(random.nextInt(tags.size()));
    }

    private void hold(Redlock client, String name) {
      Lease lease = client.lock(name, SHORT).acquire(WAIT);
      held.add(lease);
      lease
          .whenEnded()
          .thenAccept(
              end -> {
                if (!over.get() || end != LeaseEnd.RELEASED) {
                  failures.add("lease of " + name + " ended: " + end);
                }
              });
    }

    private void start(Runnable work) {
      Thread thread =
          new Thread(
              () -> {
                while (!over.get()) {
                  try {
                    work.run();
                  } catch (RuntimeException | AssertionError e) {
                    failures.add(e);
                  }
                }
              });
      threads.add(thread);
      thread.start();
    }

    private void section(Redlock client, int t) {
      try (Lease lease = client.lock("shared_" + tags.get(t), OPTIONS).acquire(WAIT)) {
        visits[t].incrementAndGet();
        int seen = counters[t];
        long before = tokens[t];
        tokens[t] = lease.fencingToken().value();
        LockSupport.parkNanos(200_000);
        counters[t] = seen + 1;
        lease.ensureValid();
        assertThat(lease.fencingToken().value()).isGreaterThan(before);
      }
      sections.incrementAndGet();
    }

    /** No other client wants this name, so the cluster causes every wait. */
    private void free(Redlock client, String name) {
      long begin = System.nanoTime();
      Lease lease = lock(client, name);
      free.add(begin);
      long end = System.nanoTime();
      lease.close();
      released.add(end);
      LockSupport.parkNanos(2_000_000);
    }

    private Lease lock(Redlock client, String name) {
      while (true) {
        try {
          return client.lock(name, OPTIONS).acquire(WAIT);
        } catch (QuorumUnavailableException e) {
          refused.incrementAndGet();
        }
      }
    }

    void end() throws InterruptedException {
      over.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
    }

    void check() {
      assertThat(failures).isEmpty();
      assertThat(counters).containsExactly(Arrays.stream(visits).mapToInt(v -> v.get()).toArray());
      assertThat(held).allMatch(Lease::isValid);
      held.forEach(Lease::close);
      // A machine that stops for long stops the plain writes too.
      assertThat(free.longestMillis())
          .as("longest acquire of a free name%n%s", this)
          .isLessThan(1_000 + 4 * plain.latencies().longestMillis());
    }

    @Override
    public String toString() {
      return String.format(
          "  %d sections, %d refused (seed %d)%n  acquire of free names: %s%n"
              + "  their release: %s%n  from SET NX to SET NX beside them: %s%n",
          sections.get(), refused.get(), seed, free, released, plain);
    }

    @Override
    public void close() throws InterruptedException {
      end();
      plain.close();
      clients.forEach(Redlock::close);
    }
  }

  /** What {@code redis-cli --cluster check} says, or the same questions without it. */
  private static String check(RedisClusterNodes cluster) throws Exception {
    cluster.awaitReady();
    if (!hasCli()) {
      System.out.println("cluster: without redis-cli --cluster check");
      for (RedisNode node : cluster) {
        assertThat(String.valueOf(node.command("CLUSTER", "NODES"))).doesNotContain("->-", "-<-");
      }
      return "All nodes agree";
    }
    return cli("--cluster", "check", "127.0.0.1:" + cluster.get(0).directPort());
  }

  private static boolean hasCli() {
    try {
      return new ProcessBuilder(CLI, "--version").start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String cli(String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of(CLI));
    command.addAll(List.of(words));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor())
          .as(() -> said.substring(Math.max(0, said.length() - 2_000)))
          .isZero();
      return said;
    } finally {
      process.destroy();
    }
  }
}
