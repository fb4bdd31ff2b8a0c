package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.internal.WaitProbe;
import dev.redlock.internal.protocol.WakeUp;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Waiting without polling, on five real masters: local queue, hand-off, release hints and home
 * node.
 */
@RedisTest(nodes = 5)
class WaitingIT {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final RedisNodes nodes;

  WaitingIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Test
  void sections_eightThreadsOneProcess_shareTheirRounds() throws Exception {
    AtomicLong rounds = new AtomicLong();
    RedlockListener counter =
        new WaitProbe() {
          @Override
          public void onRound(List<String> names, boolean homeOnly) {
            rounds.incrementAndGet();
          }

          @Override
          public void onEnded(Lease lease, LeaseEnd end, Duration held, Duration left) {
            rounds.addAndGet(end == LeaseEnd.RELEASED ? 1 : 0); // The release is also a round.
          }
        };
    try (Redlock redlock =
        Clients.voting(
            Clients.on(nodes).nodeTimeout(Clients.PATIENCE).listener(counter).build(), 5)) {
      DistributedLock lock = redlock.lock("sections");
      AtomicInteger sections = new AtomicInteger();
      long before = Commands.on(nodes);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 8; t++) {
        Thread thread =
            new Thread(
                () -> {
                  for (int i = 0; i < 400; i++) {
                    try (Lease lease = lock.acquire(WAIT)) {
                      sections.addAndGet(lease.isValid() ? 1 : 0);
                    }
                  }
                });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      double commands = (Commands.on(nodes) - before) / (double) sections.get();
      double trips = rounds.get() / (double) sections.get();
      System.out.printf("8 threads: %.2f commands, %.2f rounds a section%n", commands, trips);
      assertThat(sections).hasValue(3200);
      assertThat(commands).as("commands a section").isLessThanOrEqualTo(2);
      assertThat(trips).as("round trips a section").isLessThanOrEqualTo(0.4);
    }
  }

  @Tag("thorough")
  @Test
  void waiters_tenThousandAsynchronous_costNoThreadAndNoCommandAndDrainByOneRoundEach()
      throws Exception {
    int waiters = 10_000;
    // Its own extensions would count as commands.
    LockOptions options = Clients.options().queueBound(waiters + 1).autoExtend(false).build();
    try (Redlock redlock = Clients.patient(nodes)) {
      DistributedLock lock = redlock.lock("crowd", options);
      lock.acquire(WAIT).close();
      Lease held = lock.acquire(WAIT);
      warmUp(lock);
      Clients.everywhere(nodes, "crowd");
      Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();
      long heapBefore = usedHeap();
      long commands = Commands.on(nodes);
      List<CompletableFuture<Lease>> all = new ArrayList<>(waiters);
      for (int i = 0; i < waiters; i++) {
        all.add(lock.acquireAsync(Duration.ofMinutes(2)));
      }
      double heap = (usedHeap() - heapBefore) / (double) waiters;
      assertThat(Commands.on(nodes)).as("commands while 10,000 came").isEqualTo(commands);
      Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
      threads.removeAll(threadsBefore);
      // Netty's own: it ends the event loops of the client of an earlier test.
      threads.removeIf(thread -> thread.getName().startsWith("globalEventExecutor"));
      // A thread that handled events of other callers for a long time leaves the remaining events
      // to a pool. This happens on a busy machine.
      List<Thread> queuePool =
          threads.stream().filter(t -> t.getName().startsWith("redlock-queue-")).toList();
      assertThat(queuePool)
          .as("threads of the pool, whatever the number of waiters")
          .hasSizeLessThanOrEqualTo(Math.max(2, Runtime.getRuntime().availableProcessors()));
      queuePool.forEach(threads::remove);
      long start = System.nanoTime();
      List<CompletableFuture<Void>> served = new ArrayList<>(waiters);
      for (CompletableFuture<Lease> one : all) {
        served.add(one.thenAccept(Lease::releaseAsync));
      }
      held.close();
      CompletableFuture.allOf(served.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
      double rate = waiters / ((System.nanoTime() - start) / 1e9);
      long drain = Commands.on(nodes) - commands;
      System.out.printf(
          "10,000 waiters: more threads %s, %.0f bytes each, drained at %.0f/s, %.2f commands each%n",
          threads, heap, rate, drain / (double) waiters);
      assertThat(threads).as("additional threads").isEmpty();
      assertThat(heap).as("bytes a waiter").isLessThanOrEqualTo(2048);
      // A lease without extension takes a round and a release.
      assertThat(drain).as("commands of the drain").isLessThan(11L * waiters);
    }
  }

  /** Starts callback threads and loads classes before the count. */
  private static void warmUp(DistributedLock lock) {
    for (int i = 0; i < 100; i++) {
      CompletableFuture<Lease> one = lock.acquireAsync(WAIT);
      if (!one.cancel(true)) {
        one.join().close();
      }
    }
  }

  private static long usedHeap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** A mark that no process needs goes with the next grant (#36). */
  @Test
  void pairsOnSeveralNames_afterARefusedTryOfAnother_costNoRequestToTheHomeNode() {
    int pairs = 30;
    try (Redlock redlock = Clients.patient(nodes);
        Redlock other = Clients.patient(nodes)) {
      DistributedLock several = redlock.lock(List.of("marked-a", "marked-b"), options());
      try (Lease lease = several.acquire(WAIT)) {
        assertThat(other.lock("marked-b", options()).tryAcquire()).isEmpty();
        Eventually.holds(() -> Clients.owesNothing(other), nodes);
        assertThat(Clients.isWanted(nodes, "marked-b")).isTrue();
        assertThat(lease.isValid()).isTrue();
      }
      several.acquire(WAIT).close(); // This grant finds the mark.
      long before = Commands.on(nodes);
      for (int i = 0; i < pairs; i++) {
        several.acquire(WAIT).close();
      }
      long requests = Commands.on(nodes) - before;
      assertThat(requests)
          .as("requests of %s pairs, each 10, or 11 with one to the home node", pairs)
          .isLessThan(pairs * 10 + pairs / 2);
    }
  }

  private static LockOptions options() {
    return Clients.options().build();
  }

  @Test
  void waiters_allCancelled_leaveNothing() {
    LockOptions options = Clients.options().queueBound(10_001).build();
    try (Redlock redlock = Clients.patient(nodes);
        Redlock other = Clients.patient(nodes)) {
      Lease held = other.lock("cancelled", options).acquire(WAIT);
      List<CompletableFuture<Lease>> all = new ArrayList<>();
      for (int i = 0; i < 10_000; i++) {
        all.add(redlock.lock("cancelled", options).acquireAsync(Duration.ofMinutes(2)));
      }
      for (CompletableFuture<Lease> one : all) {
        one.cancel(true);
      }
      held.close();
      Clients.gone(nodes, "cancelled");
      redlock.lock("cancelled", options).acquire(WAIT).close();
    }
  }

  @Test
  void waiters_tenThousandOnALockHeldElsewhere_costTwoCommandsAnExtension() throws Exception {
    int waiters = 10_000;
    int extensions = 15;
    LockOptions options =
        Clients.options()
            .autoExtend(false)
            .queueBound(waiters)
            .pollInterval(Duration.ofMinutes(1)) // Limited to 1/3 of the lease time.
            .build();
    AtomicInteger atHome = new AtomicInteger();
    AtomicInteger atAll = new AtomicInteger();
    AtomicInteger polls = new AtomicInteger();
    RedlockListener watching =
        new WaitProbe() {
          @Override
          public void onRound(List<String> names, boolean homeOnly) {
            (homeOnly ? atHome : atAll).incrementAndGet();
          }

          @Override
          public void onWakeUp(List<String> names, WakeUp cause) {
            polls.addAndGet(cause == WakeUp.POLL ? 1 : 0);
          }
        };
    try (Redlock holder = Clients.patient(nodes);
        Redlock waiting = Clients.voting(Clients.on(nodes).listener(watching).build(), 5)) {
      Lease held = holder.lock("watched", options).acquire(WAIT);
      List<CompletableFuture<Lease>> all = new ArrayList<>();
      for (int i = 0; i < waiters; i++) {
        all.add(waiting.lock("watched", options).acquireAsync(Duration.ofMinutes(2)));
      }
      // The first request went to all nodes; from now on only the home node tracks the key.
      extend(held);
      Thread.sleep(200);
      atHome.set(0);
      atAll.set(0);
      polls.set(0);
      long[] commands = new long[extensions];
      int[] toAll = new int[extensions];
      for (int i = 0; i < extensions; i++) {
        long before = Commands.on(nodes);
        int atAllBefore = atAll.get();
        extend(held);
        Thread.sleep(200);
        commands[i] = Commands.on(nodes) - before - nodes.size();
        toAll[i] = atAll.get() - atAllBefore;
      }
      System.out.printf(
          "10,000 waiters elsewhere: %s commands at %d extensions and %d polls, %d at the home node, %d at all nodes%n",
          Arrays.toString(commands), extensions, polls.get(), atHome.get(), atAll.get());
      // One request goes to the home node, and one to another node, in case the home node hangs. If
      // the invalidations of these two nodes come far apart, each of them causes a request to the
      // home node.
      Arrays.sort(commands);
      assertThat(commands[extensions / 2]).as("commands, median").isLessThanOrEqualTo(2);
      // A poll asks all nodes and rolls back. So does a waiter that gets replies of all nodes
      // except, in time, the home node.
      assertThat(LongStream.of(commands).sum())
          .as("commands at all extensions")
          .isLessThanOrEqualTo(3L * extensions + 10L * atAll.get());
      // The client passes over a home node that is 10 ms late, so each pause of the machine costs
      // one round.
      Arrays.sort(toAll);
      assertThat(toAll[extensions / 2]).as("rounds at all nodes, median").isZero();
      all.forEach(one -> one.cancel(true));
      held.close();
    }
  }

  private static void extend(Lease lease) throws Exception {
    lease.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
  }

  @Tag("thorough")
  @Test
  void collision_tenClientsOnAFreeName_isSettledEachTime() throws Exception {
    List<Redlock> clients = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      clients.add(Clients.patient(nodes));
    }
    int rounds = 200;
    long[] micros = new long[rounds];
    try {
      CyclicBarrier barrier = new CyclicBarrier(11);
      AtomicLong won = new AtomicLong();
      AtomicInteger round = new AtomicInteger();
      List<Thread> threads = new ArrayList<>();
      for (Redlock client : clients) {
        Thread thread =
            new Thread(
                () -> {
                  try {
                    while (true) {
                      barrier.await();
                      if (round.get() >= rounds) {
                        return;
                      }
                      DistributedLock lock = client.lock("collide-" + round.get());
                      try (Lease lease = lock.acquire(WAIT)) {
                        won.accumulateAndGet(System.nanoTime(), Math::min);
                        lease.ensureValid();
                      }
                      barrier.await();
                    }
                  } catch (Exception e) {
                    e.printStackTrace();
                  }
                });
        thread.start();
        threads.add(thread);
      }
      for (int i = 0; i < rounds; i++) {
        won.set(Long.MAX_VALUE);
        long start = System.nanoTime();
        barrier.await(30, TimeUnit.SECONDS);
        barrier.await(30, TimeUnit.SECONDS);
        micros[i] = (won.get() - start) / 1000;
        round.incrementAndGet();
      }
      barrier.await(30, TimeUnit.SECONDS);
      for (Thread thread : threads) {
        thread.join();
      }
    } finally {
      clients.forEach(Redlock::close);
    }
    Arrays.sort(micros);
    System.out.printf(
        "10 clients collide: settled after median %.1f ms, p99 %.1f ms, max %.1f ms%n",
        micros[rounds / 2] / 1e3, micros[rounds * 99 / 100] / 1e3, micros[rounds - 1] / 1e3);
    assertThat(micros[rounds / 2]).as("median in µs").isLessThanOrEqualTo(20_000);
    assertThat(micros[rounds * 99 / 100]).as("p99 in µs").isLessThanOrEqualTo(1_000_000);
    assertThat(micros[rounds - 1]).as("longest in µs").isLessThanOrEqualTo(5_000_000);
  }

  @Test
  void release_waiterInAnotherClient_isWokenLongBeforeItsPoll() throws Exception {
    LockOptions lazy = Clients.options().pollInterval(Duration.ofMinutes(1)).build();
    try (Redlock one = Clients.patient(nodes);
        Redlock two = Clients.patient(nodes)) {
      long[] micros = new long[50];
      for (int i = 0; i < micros.length; i++) {
        Lease held = one.lock("woken", lazy).acquire(WAIT);
        CompletableFuture<Lease> next = two.lock("woken", lazy).acquireAsync(WAIT);
        // Refused: by all nodes the first time, then by the home node.
        Eventually.holds(() -> Clients.isWanted(nodes, "woken"), nodes);
        long start = System.nanoTime();
        CompletableFuture<Long> got = next.thenApply(lease -> System.nanoTime());
        held.close();
        micros[i] = (got.get(20, TimeUnit.SECONDS) - start) / 1000;
        next.get().close();
      }
      Arrays.sort(micros);
      System.out.printf(
          "hand-over between clients: median %d µs, max %d µs%n", micros[25], micros[49]);
      assertThat(micros[25]).isLessThan(50_000);
    }
  }
}
