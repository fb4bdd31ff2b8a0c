package dev.redlock.bench.scenario;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.bench.system.Peer;
import dev.redlock.bench.system.RedlockClient;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Leases on three masters that work some 5 ms of each 100 ms, as under a quota of processor time:
 * how many are kept, and how many can be. A lease is kept if it is renewed in each lease time, so
 * no more can be kept than are renewed in the worst of them ({@code fewest renewals}); the masters
 * also delete the keys of lost leases then.
 */
public final class ThrottledLeases implements Scenario {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final int LEASE_TIMES = 3;
  private static final int SAMPLES = 20; // in a lease time

  /** Ends when the masters have ended: then nothing takes the signal. */
  private static final String THROTTLE =
      "while kill -CONT %1$s 2>&-; do sleep 0.005; kill -STOP %1$s; sleep 0.095; done";

  @Override
  public String name() {
    return "throttled";
  }

  @Override
  public void measure(Run run) throws Exception {
    if (run.present(Peer.REDLOCK).isEmpty()) {
      return;
    }
    int[] numbers =
        run.quick() ? new int[] {4000, 16_000} : new int[] {2000, 4000, 8000, 16_000, 32_000};
    for (int leases : numbers) {
      measure(run, leases);
    }
  }

  private void measure(Run run, int leases) throws Exception {
    HeldLeases.Counter counter = new HeldLeases.Counter();
    Process throttle = null;
    try (RedisNodes nodes = RedisNodes.start(3);
        RedlockClient client =
            RedlockClient.of(
                Redlock.builder()
                    .nodes(nodes.uris().toArray(String[]::new))
                    .defaults(LockOptions.builder().leaseTime(LEASE).build())
                    .listener(counter))) {
      Redlock redlock = client.redlock();
      List<Lease> held = HeldLeases.acquire(redlock, leases);
      Thread.sleep(LEASE.dividedBy(2).toMillis());
      throttle = new ProcessBuilder("sh", "-c", THROTTLE.formatted(masters())).start();
      List<Long> samples = new ArrayList<>();
      long slowest = 0;
      for (int i = 0; i <= LEASE_TIMES * SAMPLES; i++) {
        samples.add(counter.extended.get());
        long begun = System.nanoTime();
        Lease free = redlock.lock("free-" + i).acquire(LEASE);
        slowest = Math.max(slowest, System.nanoTime() - begun);
        free.close();
        long next = begun + LEASE.dividedBy(SAMPLES).toNanos();
        Thread.sleep(Math.max(0, next - System.nanoTime()) / 1_000_000);
      }
      long fewest = Long.MAX_VALUE;
      for (int i = SAMPLES; i < samples.size(); i++) {
        fewest = Math.min(fewest, samples.get(i) - samples.get(i - SAMPLES));
      }
      double kept = held.stream().filter(Lease::isValid).count();
      String scenario = name() + "-" + leases;
      run.add(scenario, Peer.REDLOCK, "kept", "", kept);
      run.add(scenario, Peer.REDLOCK, "fewest renewals", "", (double) fewest);
      run.add(scenario, Peer.REDLOCK, "kept/possible", "", kept / Math.min(leases, fewest));
      run.add(scenario, Peer.REDLOCK, "slowest free acquire", "ms", slowest / 1e6);
      throttle.destroyForcibly().waitFor();
      nodes.forEach(RedisNode::kill);
    } finally {
      if (throttle != null) {
        throttle.destroyForcibly();
      }
    }
  }

  /** The masters of this run: children of this process. */
  private static String masters() {
    return String.join(
        " ",
        ProcessHandle.current()
            .children()
            .filter(child -> child.info().command().orElse("").contains("redis-server"))
            .map(child -> Long.toString(child.pid()))
            .toList());
  }
}
