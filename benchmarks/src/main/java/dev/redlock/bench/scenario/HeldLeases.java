package dev.redlock.bench.scenario;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.bench.system.Peer;
import dev.redlock.bench.system.RedlockClient;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Leases that are held and extended. {@code held} is with 1,000 leases; other names contain the
 * number.
 */
public final class HeldLeases implements Scenario {
  private static final int HEADLINE = 1000;
  private static final int AT_ONCE = 200;

  @Override
  public String name() {
    return "held";
  }

  /** Counts the events of the client. */
  private static final class Counter implements RedlockListener {
    private final AtomicLong extended = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();

    @Override
    public void onExtended(Lease lease, int repaired) {
      extended.incrementAndGet();
    }

    @Override
    public void onEnded(Lease lease, LeaseEnd end) {
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
        measure(run, nodes, leases);
      }
    }
  }

  private void measure(Run run, RedisNodes nodes, int leases) throws Exception {
    Duration leaseTime = run.time(4500, 30_000);
    Counter counter = new Counter();
    try (RedlockClient client =
        RedlockClient.of(
            Redlock.builder()
                .nodes(nodes.uris().toArray(String[]::new))
                .defaults(LockOptions.builder().leaseTime(leaseTime).build())
                .listener(counter))) {
      List<Lease> held = acquire(client.redlock(), leases);
      long extended = counter.extended.get();
      Commands before = Commands.of(nodes);
      long cpu = Cpu.nanos();
      long start = System.nanoTime();
      Thread.sleep(run.time(4500, 60_000).toMillis());
      double seconds = (System.nanoTime() - start) / 1e9;
      String scenario = leases == HEADLINE ? name() : name() + "-" + leases;
      Commands used = Commands.of(nodes).since(before);
      double sent = used.sent();
      double extensions = (double) Math.max(1, counter.extended.get() - extended);
      run.add(scenario, Peer.REDLOCK, "cpu", "%", (Cpu.nanos() - cpu) / 1e7 / seconds);
      run.add(scenario, Peer.REDLOCK, "extensions/s", "1/s", extensions / seconds);
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

  private static List<Lease> acquire(Redlock redlock, int leases) {
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
