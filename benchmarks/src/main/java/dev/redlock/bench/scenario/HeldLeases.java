package dev.redlock.bench.scenario;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.bench.system.Peer;
import dev.redlock.bench.system.RedlockClient;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Leases that are held and extended. {@code held} is with 1,000 leases; other names contain the
 * number. The largest numbers have three masters and leases of 30 s, and must not lose one; those
 * that end with {@code -paused} or {@code -hung} are for a pause of this process or of all masters.
 */
public final class HeldLeases implements Scenario {
  private static final int HEADLINE = 1000;
  private static final int AT_ONCE = 200;
  private static final Duration LONG_LEASE = Duration.ofSeconds(30);

  /** Two thirds of what a lease of 30 s survives; see the worksheet. */
  private static final Duration PAUSE = Duration.ofMillis(19_698 * 2 / 3);

  /** What happens to the leases. */
  private enum Trouble {
    NONE(""),
    PAUSED("-paused"),
    HUNG("-hung");

    final String suffix;

    Trouble(String suffix) {
      this.suffix = suffix;
    }
  }

  @Override
  public String name() {
    return "held";
  }

  /** Counts the events of the client. */
  static final class Counter implements RedlockListener {
    final AtomicLong extended = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();

    @Override
    public void onExtended(Lease lease, int repaired) {
      extended.incrementAndGet();
    }

    @Override
    public void onEnded(Lease lease, LeaseEnd end, Duration held, Duration validityLeft) {
      if (end != LeaseEnd.RELEASED) {
        lost.incrementAndGet();
      }
    }
  }

  @Override
  public void measure(Run run) throws Exception {
    if (run.present(Peer.REDLOCK).isEmpty()) {
      return;
    }
    try (RedisNodes nodes = RedisNodes.start(5)) {
      for (int leases :
          run.quick() ? new int[] {100, HEADLINE} : new int[] {100, HEADLINE, 10_000}) {
        measure(run, nodes, leases, run.time(4500, 30_000), Trouble.NONE);
      }
    }
    int[] atRest = run.quick() ? new int[] {100_000} : new int[] {50_000, 100_000};
    for (int leases : atRest) {
      measureMany(run, leases, Trouble.NONE);
    }
    measureMany(run, 50_000, Trouble.PAUSED);
    measureMany(run, 50_000, Trouble.HUNG);
  }

  private void measureMany(Run run, int leases, Trouble trouble) throws Exception {
    try (RedisNodes nodes = RedisNodes.start(3)) {
      measure(run, nodes, leases, LONG_LEASE, trouble);
    }
  }

  private void measure(Run run, RedisNodes nodes, int leases, Duration leaseTime, Trouble trouble)
      throws Exception {
    Counter counter = new Counter();
    try (RedlockClient client =
        RedlockClient.of(
            Redlock.builder()
                .nodes(nodes.uris().toArray(String[]::new))
                .defaults(LockOptions.builder().leaseTime(leaseTime).build())
                .listener(counter))) {
      List<Lease> held = acquire(client.redlock(), leases);
      if (trouble != Trouble.NONE) {
        Thread.sleep(leaseTime.dividedBy(2).toMillis());
        suffer(nodes, trouble);
      }
      long extended = counter.extended.get();
      Commands before = Commands.of(nodes);
      long cpu = Cpu.nanos();
      long start = System.nanoTime();
      long most = mostPerSecond(counter, run.quick() ? leaseTime : leaseTime.multipliedBy(2));
      double seconds = (System.nanoTime() - start) / 1e9;
      String scenario = (leases == HEADLINE ? name() : name() + "-" + leases) + trouble.suffix;
      Commands used = Commands.of(nodes).since(before);
      double sent = used.sent();
      double extensions = (double) Math.max(1, counter.extended.get() - extended);
      run.add(scenario, Peer.REDLOCK, "cpu", "%", (Cpu.nanos() - cpu) / 1e7 / seconds);
      run.add(scenario, Peer.REDLOCK, "extensions/s", "1/s", extensions / seconds);
      run.add(scenario, Peer.REDLOCK, "most extensions/s", "1/s", (double) most);
      run.add(scenario, Peer.REDLOCK, "commands/(lease·s)", "1/s", sent / leases / seconds);
      run.add(
          scenario,
          Peer.REDLOCK,
          "commands/(node·extension)",
          "",
          sent / extensions / nodes.size());
      run.add(
          scenario, Peer.REDLOCK, "commands/read", "", sent / (double) Math.max(1, used.reads()));
      run.add(scenario, Peer.REDLOCK, "lost", "", (double) counter.lost.get());
      release(held);
    }
  }

  /** Returns after this time: how many leases were extended in the best second. */
  private static long mostPerSecond(Counter counter, Duration time) throws InterruptedException {
    long most = 0;
    long end = System.nanoTime() + time.toNanos();
    for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
      long before = counter.extended.get();
      long begun = System.nanoTime();
      Thread.sleep(Math.min(1000, left / 1_000_000 + 1));
      double seconds = (System.nanoTime() - begun) / 1e9;
      most = Math.max(most, Math.round((counter.extended.get() - before) / Math.max(1, seconds)));
    }
    return most;
  }

  /** Returns after the pause. */
  private static void suffer(RedisNodes nodes, Trouble trouble) throws Exception {
    if (trouble == Trouble.HUNG) {
      nodes.forEach(RedisNode::pause);
      Thread.sleep(PAUSE.toMillis());
      nodes.forEach(RedisNode::resume);
      return;
    }
    long pid = ProcessHandle.current().pid();
    String script =
        "kill -STOP %d; sleep %d.%03d; kill -CONT %d"
            .formatted(pid, PAUSE.toSeconds(), PAUSE.toMillisPart(), pid);
    new ProcessBuilder("sh", "-c", script).inheritIO().start().waitFor();
  }

  static List<Lease> acquire(Redlock redlock, int leases) {
    List<Lease> held = new ArrayList<>();
    for (int from = 0; from < leases; from += AT_ONCE) {
      List<CompletableFuture<Lease>> some = new ArrayList<>();
      for (int i = from; i < Math.min(leases, from + AT_ONCE); i++) {
        DistributedLock lock = redlock.lock("held-" + i);
        some.add(lock.acquireAsync(Duration.ofSeconds(30)));
      }
      some.forEach(lease -> held.add(lease.join()));
    }
    return held;
  }

  private static void release(List<Lease> held) {
    for (int from = 0; from < held.size(); from += AT_ONCE) {
      held.subList(from, Math.min(held.size(), from + AT_ONCE)).stream()
          .map(lease -> lease.releaseAsync().toCompletableFuture())
          .toList()
          .forEach(released -> released.exceptionally(e -> null).join());
    }
  }
}
