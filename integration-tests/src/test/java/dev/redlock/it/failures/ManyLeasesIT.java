package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One client holds many leases while all masters hang, so that all are due together. Without a
 * limit of the extensions under way, only those that the masters answer within the first node
 * timeout are extended, and the client sends the others again and again.
 */
@RedisTest(nodes = 3)
@Tag("thorough")
class ManyLeasesIT {
  private static final int LEASES = 10_000;
  private static final int AT_ONCE = 100;

  /** A lease is at most 7 s old when the masters hang, and then has 8 s left after the pause. */
  private static final Duration LEASE_TIME = Duration.ofSeconds(21);

  private static final Duration PAUSE = Duration.ofSeconds(6);

  private final RedisNodes nodes;

  ManyLeasesIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  /** What happened to the leases. */
  private static final class Events implements RedlockListener {
    final Collection<String> lost = new ConcurrentLinkedQueue<>();
    final Set<String> extended = ConcurrentHashMap.newKeySet();

    @Override
    public void onExtended(Lease lease, int repaired) {
      extended.addAll(lease.names());
    }

    @Override
    public void onEnded(Lease lease, LeaseEnd end, Duration held, Duration left) {
      if (end != LeaseEnd.RELEASED) {
        lost.add(lease.names() + " " + end);
      }
    }
  }

  @Test
  void tenThousandLeases_afterAHangOfAllMasters_areKept() throws Exception {
    Events events = new Events();
    LockOptions options = LockOptions.builder().leaseTime(LEASE_TIME).build();
    try (Redlock redlock = Clients.voting(Clients.on(nodes).listener(events).build(), 3)) {
      List<Lease> held = acquire(redlock, options);
      for (RedisNode node : nodes) {
        node.pause();
      }
      try {
        Thread.sleep(PAUSE.toMillis());
      } finally {
        nodes.forEach(RedisNode::resume);
      }
      events.extended.clear();
      Eventually.holds(
          () -> events.extended.size() + events.lost.size() >= LEASES,
          LEASE_TIME.multipliedBy(2),
          nodes);
      assertThat(events.lost).isEmpty();
      assertThat(held).allMatch(Lease::isValid);
      for (Lease lease : held) {
        lease.releaseAsync();
      }
    }
  }

  private static List<Lease> acquire(Redlock redlock, LockOptions options) throws Exception {
    List<Lease> held = new ArrayList<>();
    while (held.size() < LEASES) {
      List<CompletableFuture<Lease>> asked = new ArrayList<>();
      for (int i = 0; i < AT_ONCE; i++) {
        asked.add(
            redlock
                .lock("many-" + (held.size() + i), options)
                .acquireAsync(Duration.ofSeconds(30)));
      }
      for (CompletableFuture<Lease> lease : asked) {
        held.add(lease.get(30, TimeUnit.SECONDS));
      }
    }
    return held;
  }
}
