package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.harness.ForwardingLockNode;
import dev.redlock.internal.WaitProbe;
import dev.redlock.internal.protocol.WakeUp;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Release hints may be lost, duplicated, late or forged. This costs only time. */
@RedisTest(nodes = 5)
class HintsIT {
  private static final Duration WAIT = Duration.ofSeconds(30);

  private final RedisNodes nodes;
  private final List<ReleaseHints.Receiver> receivers = new CopyOnWriteArrayList<>();

  HintsIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Test
  void sections_allHintsLost_continueByPollsAlone() throws Exception {
    race(new Losing(), 20);
  }

  @Test
  void sections_allHintsDuplicatedAndLate_stayExclusive() throws Exception {
    race(new Stuttering(), 100);
  }

  @Test
  void sections_tenThousandForgedHintsASecond_stayExclusive() throws Exception {
    race(new Passing(), 100);
  }

  @Test
  void sections_forgedInvalidationsOfAllNodes_stayExclusive() throws Exception {
    try (ForgingInvalidations forging = new ForgingInvalidations()) {
      race(forging, 100);
      System.out.println("forged invalidations: " + forging.sent);
      assertThat(forging.sent).hasValueGreaterThan(100);
    }
  }

  @Test
  void release_invalidationsLostButHintPublished_wakesAWaiterLongBeforeItsPoll() throws Exception {
    LockOptions lazy = Clients.options().pollInterval(Duration.ofMinutes(1)).build();
    List<WakeUp> causes = new CopyOnWriteArrayList<>();
    RedlockListener listener =
        new WaitProbe() {
          @Override
          public void onWakeUp(List<String> names, WakeUp cause) {
            causes.add(cause);
          }
        };
    try (Redlock one = published(new RedlockListener() {});
        Redlock two = published(listener)) {
      long[] millis = new long[20];
      int hinted = 0;
      for (int i = 0; i < millis.length; i++) {
        millis[i] = handOver(one.lock("published", lazy), two.lock("published", lazy), causes);
        assertThat(causes).as("what woke waiter " + i).doesNotContain(WakeUp.POLL);
        hinted += causes.contains(WakeUp.HINT) ? 1 : 0;
      }
      // The others entered the queue after the release, or were woken when their turn came.
      assertThat(hinted).as("waiters that a hint woke").isGreaterThan(5);
      Arrays.sort(millis);
      System.out.println("published: hand-over within " + millis[10] + " ms, most " + millis[19]);
      assertThat(millis[10]).as("median ms; a poll would take 5 to 15 s").isLessThan(500);
    }
  }

  /** The time in milliseconds from a release to the grant of the waiter. */
  private long handOver(DistributedLock from, DistributedLock to, List<WakeUp> causes)
      throws Exception {
    Lease held = from.acquire(WAIT);
    // A hint of the previous lease may also wake the waiter, just before the release.
    causes.clear();
    CompletableFuture<Lease> next = to.acquireAsync(WAIT);
    CompletableFuture<Long> got = next.thenApply(lease -> System.nanoTime());
    Eventually.holds(
        () ->
            nodes.stream()
                .anyMatch(n -> !n.command("ZCARD", Clients.queueKey("published")).equals(0L)),
        nodes);
    long start = System.nanoTime();
    held.close();
    long millis = (got.get(20, TimeUnit.SECONDS) - start) / 1_000_000;
    next.get().close();
    return millis;
  }

  /** A client that receives published hints only. */
  private Redlock published(RedlockListener listener) {
    return Clients.voting(
        Redlock.builder()
            .nodes(relayed(new Losing()))
            .restartGuard(RestartGuard.OFF)
            .hints(new AfterRelease(receivers, nodes))
            .listener(listener)
            .build(),
        5);
  }

  private LockNode[] relayed(Carrier carrier) {
    return LettuceNodes.standalone(nodes.uris()).stream()
        .map(node -> new Relay(node, carrier))
        .toArray(LockNode[]::new);
  }

  private void race(Carrier carrier, int sections) throws Exception {
    boolean forge = carrier instanceof Passing;
    LockOptions options =
        LockOptions.builder().pollInterval(Duration.ofMillis(100)).maxHandOffs(2).build();
    List<Redlock> clients = new ArrayList<>();
    AtomicInteger inside = new AtomicInteger();
    int[] counter = new int[1];
    try (Forger forger = new Forger()) {
      for (int c = 0; c < 3; c++) {
        var builder = Redlock.builder().nodes(relayed(carrier)).restartGuard(RestartGuard.OFF);
        if (forge) {
          builder.hints(forger.carrier());
        }
        clients.add(Clients.voting(builder.build(), 5));
      }
      List<Thread> threads = new ArrayList<>();
      List<Throwable> failures = new CopyOnWriteArrayList<>();
      for (Redlock client : clients) {
        DistributedLock lock = client.lock("hinted", options);
        for (int t = 0; t < 2; t++) {
          Thread thread =
              new Thread(
                  () -> {
                    try {
                      for (int i = 0; i < sections; i++) {
                        try (Lease lease = lock.acquire(WAIT)) {
                          assertThat(inside.incrementAndGet()).isEqualTo(1);
                          counter[0]++;
                          lease.ensureValid();
                          inside.decrementAndGet();
                        }
                      }
                    } catch (Throwable e) {
                      failures.add(e);
                    }
                  });
          thread.start();
          threads.add(thread);
        }
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failures).isEmpty();
      assertThat(counter[0]).isEqualTo(clients.size() * 2 * sections);
    } finally {
      clients.forEach(Redlock::close);
    }
  }

  /** The treatment of an invalidation. */
  private interface Carrier {
    void carry(Runnable invalidation);

    /** Registers a listener for the invalidations of this node. */
    default void connected(LockNode node, LockNode.Listener listener) {}
  }

  /** Each node sends 1,000 invalidations of the key per second, and sometimes one of all keys. */
  private static final class ForgingInvalidations implements Carrier, AutoCloseable {
    private final ScheduledExecutorService forger = Executors.newSingleThreadScheduledExecutor();
    final AtomicInteger sent = new AtomicInteger();

    @Override
    public void carry(Runnable invalidation) {
      invalidation.run();
    }

    @Override
    public void connected(LockNode node, LockNode.Listener listener) {
      forger.scheduleWithFixedDelay(
          () -> {
            if (sent.incrementAndGet() % 100 == 0) {
              listener.onAllInvalidated(node);
            } else {
              listener.onInvalidated(node, Clients.lockKey("hinted"));
            }
          },
          1,
          1,
          TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
      forger.shutdownNow();
    }
  }

  private static final class Losing implements Carrier {
    @Override
    public void carry(Runnable invalidation) {}
  }

  private static final class Passing implements Carrier {
    @Override
    public void carry(Runnable invalidation) {
      invalidation.run();
    }
  }

  private static ThreadFactory daemons(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  private static final class Stuttering implements Carrier {
    private final ScheduledExecutorService late =
        Executors.newSingleThreadScheduledExecutor(daemons("late-hints"));

    @Override
    public void carry(Runnable invalidation) {
      late.schedule(invalidation, 5, TimeUnit.MILLISECONDS);
      late.schedule(invalidation, 15, TimeUnit.MILLISECONDS);
    }
  }

  /**
   * Publishes a hint only after the release. A hint may overtake the release by more than the few
   * round trips for which a waiter asks again. Then the invalidation of the wake key wakes it; here
   * invalidations are lost, and the waiter would sleep until its poll.
   */
  private static final class AfterRelease implements ReleaseHints {
    private final List<Receiver> receivers;
    private final RedisNodes nodes;
    private final ExecutorService publisher =
        Executors.newSingleThreadExecutor(daemons("hints-after-release"));

    AfterRelease(List<Receiver> receivers, RedisNodes nodes) {
      this.receivers = receivers;
      this.nodes = nodes;
    }

    @Override
    public void ended(Ended ended) {
      publisher.execute(
          () -> {
            // A node that has refused the lease receives no release of it.
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
            while (!nodes.stream().allMatch(node -> hasEnded(node, ended))
                && deadline - System.nanoTime() > 0) {
              Thread.onSpinWait();
            }
            receivers.forEach(to -> ended.names().forEach(to::mayBeFree));
          });
    }

    private static boolean hasEnded(RedisNode node, Ended ended) {
      String fence = (String) node.command("GET", Clients.lockKey(ended.names().get(0)) + ":fence");
      return fence != null && Long.parseLong(fence.split(":")[1]) >= ended.token();
    }

    @Override
    public void start(Receiver receiver) {
      receivers.add(receiver);
    }

    @Override
    public void close() {
      publisher.shutdownNow();
    }
  }

  /** Sends 10,000 hints per second for the name. */
  private static final class Forger implements AutoCloseable {
    private final List<ReleaseHints.Receiver> receivers = new CopyOnWriteArrayList<>();
    private final ScheduledExecutorService flood =
        Executors.newSingleThreadScheduledExecutor(daemons("forged-hints"));

    Forger() {
      flood.scheduleAtFixedRate(
          () -> {
            for (int i = 0; i < 10; i++) {
              receivers.forEach(r -> r.mayBeFree("hinted"));
            }
          },
          1,
          1,
          TimeUnit.MILLISECONDS);
    }

    ReleaseHints carrier() {
      return new ReleaseHints() {
        @Override
        public void start(Receiver receiver) {
          receivers.add(receiver);
        }

        @Override
        public void ended(Ended ended) {}

        @Override
        public void close() {}
      };
    }

    @Override
    public void close() {
      flood.shutdownNow();
    }
  }

  /** A node whose invalidations pass through a filter. */
  private static final class Relay extends ForwardingLockNode {
    private final Carrier carrier;

    Relay(LockNode node, Carrier carrier) {
      super(node);
      this.carrier = carrier;
    }

    @Override
    public boolean notifiesWaiters() {
      return false;
    }

    @Override
    protected LockNode.Listener listener(LockNode.Listener client) {
      carrier.connected(this, client);
      return new ForwardingListener(client) {
        @Override
        public void onInvalidated(LockNode inner, String key) {
          carrier.carry(() -> super.onInvalidated(inner, key));
        }

        @Override
        public void onAllInvalidated(LockNode inner) {
          carrier.carry(() -> super.onAllInvalidated(inner));
        }
      };
    }
  }
}
