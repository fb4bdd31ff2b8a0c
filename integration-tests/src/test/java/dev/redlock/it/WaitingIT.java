package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.LockQueueFullException;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.testkit.ForkedJvm;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Waiting without polling: the queue, the hand-off, hints and the door, on five real masters. */
@RedisTest(nodes = 5)
class WaitingIT {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final RedisNodes nodes;

  WaitingIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Test
  void sections_eightThreadsOneProcess_costHardlyMoreThanOneRoundEach() throws Exception {
    AtomicLong rounds = new AtomicLong();
    RedlockListener counter =
        new RedlockListener() {
          @Override
          public void onAttempt(List<String> names, boolean doorOnly) {
            rounds.incrementAndGet();
          }

          @Override
          public void onEnded(Lease lease, LeaseEnd end) {
            rounds.addAndGet(end == LeaseEnd.RELEASED ? 1 : 0); // The release is a round, too.
          }
        };
    try (Redlock redlock = Clients.voting(Clients.on(nodes).listener(counter).build(), 5)) {
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
      Eventually.holds(() -> rounds.get() >= sections.get(), nodes);
      double trips = rounds.get() / (double) sections.get();
      System.out.printf("8 threads: %.2f commands, %.2f rounds a section%n", commands, trips);
      assertThat(sections).hasValue(3200);
      assertThat(commands).as("commands a section").isLessThanOrEqualTo(6);
      assertThat(trips).as("round trips a section").isLessThanOrEqualTo(1.3);
    }
  }

  @Test
  void sections_fourProcesses_areFastCheapAndEven() throws Exception {
    int[] entered = race(4, 2, false);
    int sum = Arrays.stream(entered).sum();
    assertThat(sum / 10.0).as("sections/s").isGreaterThanOrEqualTo(200);
    for (int own : entered) {
      assertThat(own).as("of " + Arrays.toString(entered)).isGreaterThanOrEqualTo(sum / 4 / 2);
    }
  }

  private int[] race(int processes, int threads, boolean fair) throws Exception {
    List<ForkedJvm> workers = new ArrayList<>();
    int[] entered = new int[processes];
    try {
      for (int i = 0; i < processes; i++) {
        workers.add(
            ForkedJvm.start(
                Sections.class,
                String.join(",", nodes.uris()),
                String.valueOf(threads),
                "3000",
                "10000",
                String.valueOf(fair)));
      }
      for (ForkedJvm worker : workers) {
        worker.awaitLine("ready"::equals, Duration.ofSeconds(30));
      }
      long before = Commands.on(nodes);
      workers.forEach(worker -> worker.send("go"));
      String[] said = new String[processes];
      for (int i = 0; i < processes; i++) {
        said[i] = workers.get(i).awaitLine(l -> l.startsWith("entered"), Duration.ofSeconds(60));
        entered[i] = Integer.parseInt(said[i].split(" ")[1]);
      }
      int sum = Arrays.stream(entered).sum();
      // Commands of the warm-up are in, its sections are not: an upper bound.
      double commands = (Commands.on(nodes) - before) / (double) sum;
      System.out.printf(
          "%d processes x %d threads%s: %d sections/s, < %.1f commands a section, %s%n",
          processes, threads, fair ? ", fair" : "", sum / 10, commands, Arrays.toString(said));
      assertThat(commands * 10 / 13).as("commands a section").isLessThanOrEqualTo(25);
      return entered;
    } finally {
      workers.forEach(ForkedJvm::close);
    }
  }

  @Test
  void waiters_tenThousandAsynchronous_costNoThreadAndNoCommandAndDrainByHandOff()
      throws Exception {
    int waiters = 10_000;
    LockOptions options = LockOptions.builder().queueBound(waiters + 1).build();
    try (Redlock redlock = Clients.start(nodes)) {
      DistributedLock lock = redlock.lock("crowd", options);
      lock.acquire(WAIT).close();
      Lease held = lock.acquire(WAIT);
      warmUp(lock);
      int threadsBefore = ManagementFactory.getThreadMXBean().getThreadCount();
      long heapBefore = usedHeap();
      List<CompletableFuture<Lease>> all = new ArrayList<>(waiters);
      for (int i = 0; i < waiters; i++) {
        all.add(lock.acquireAsync(Duration.ofMinutes(2)));
      }
      Eventually.holds(() -> held.isValid(), nodes);
      long commands = Commands.on(nodes);
      double heap = (usedHeap() - heapBefore) / (double) waiters;
      assertThat(Commands.on(nodes)).isEqualTo(commands);
      int threads = ManagementFactory.getThreadMXBean().getThreadCount() - threadsBefore;
      long start = System.nanoTime();
      List<CompletableFuture<Void>> served = new ArrayList<>(waiters);
      for (CompletableFuture<Lease> one : all) {
        served.add(one.thenAccept(Lease::releaseAsync));
      }
      held.close();
      CompletableFuture.allOf(served.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
      double rate = waiters / ((System.nanoTime() - start) / 1e9);
      System.out.printf(
          "10,000 waiters: %d more threads, %.0f bytes each, drained at %.0f/s%n",
          threads, heap, rate);
      assertThat(threads).as("additional threads").isLessThanOrEqualTo(1);
      assertThat(heap).as("bytes a waiter").isLessThanOrEqualTo(2048);
      assertThat(rate).as("drained a second").isGreaterThanOrEqualTo(1000);
    }
  }

  /** Lets callback threads and classes come before anything is counted. */
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

  @Test
  void waiters_allCancelled_leaveNothing() {
    LockOptions options = LockOptions.builder().queueBound(10_001).build();
    try (Redlock redlock = Clients.start(nodes);
        Redlock other = Clients.start(nodes)) {
      Lease held = other.lock("cancelled", options).acquire(WAIT);
      List<CompletableFuture<Lease>> all = new ArrayList<>();
      for (int i = 0; i < 10_000; i++) {
        all.add(redlock.lock("cancelled", options).acquireAsync(Duration.ofMinutes(2)));
      }
      for (CompletableFuture<Lease> one : all) {
        one.cancel(true);
      }
      held.close();
      for (RedisNode node : nodes) {
        Eventually.holds(() -> !Clients.holdsKey(node, "cancelled"), nodes);
      }
      redlock.lock("cancelled", options).acquire(WAIT).close();
    }
  }

  @Test
  void waiter_lockHeldElsewhere_costsOneCommandAnExtension() throws Exception {
    LockOptions brief =
        LockOptions.builder()
            .leaseTime(Duration.ofMillis(1500))
            .pollInterval(Duration.ofMinutes(1))
            .build();
    AtomicInteger extensions = new AtomicInteger();
    RedlockListener counter =
        new RedlockListener() {
          @Override
          public void onExtended(Lease lease, int repaired) {
            extensions.incrementAndGet();
          }
        };
    AtomicInteger questions = new AtomicInteger();
    RedlockListener asking =
        new RedlockListener() {
          @Override
          public void onAttempt(List<String> names, boolean doorOnly) {
            questions.addAndGet(doorOnly ? 1 : 10); // A poll, by contrast, asks all and rolls back.
          }
        };
    try (Redlock holder = Clients.voting(Clients.on(nodes).listener(counter).build(), 5);
        Redlock waiting = Clients.voting(Clients.on(nodes).listener(asking).build(), 5)) {
      Lease held = holder.lock("watched", brief).acquire(WAIT);
      List<CompletableFuture<Lease>> all = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        all.add(waiting.lock("watched", brief).acquireAsync(WAIT));
      }
      Eventually.holds(() -> questions.get() >= 10, nodes);
      questions.set(0);
      extensions.set(0);
      Eventually.holds(() -> extensions.get() >= 6, Duration.ofSeconds(10), nodes);
      System.out.println(
          "100 waiters elsewhere: " + questions + " commands at " + extensions + " extensions");
      // The poll comes at a third of the lease time at the latest, as the extension does.
      assertThat(questions.get()).isLessThanOrEqualTo(2 * extensions.get() + 10 * extensions.get());
      all.forEach(one -> one.thenAccept(Lease::releaseAsync));
      held.close();
      CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void collision_tenClientsOnAFreeName_isSettledEachTime() throws Exception {
    List<Redlock> clients = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      clients.add(Clients.start(nodes));
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
    assertThat(micros[rounds - 1]).as("longest in µs").isLessThanOrEqualTo(1_000_000);
  }

  @Test
  void queue_full_turnsAwayWithItsLength() {
    LockOptions small = LockOptions.builder().queueBound(3).build();
    try (Redlock redlock = Clients.start(nodes)) {
      Lease held = redlock.lock("full", small).acquire(WAIT);
      List<CompletableFuture<Lease>> waiting = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        waiting.add(redlock.lock("full", small).acquireAsync(WAIT));
      }
      assertThatThrownBy(() -> redlock.lock("full", small).acquire(WAIT))
          .isInstanceOfSatisfying(
              LockQueueFullException.class, e -> assertThat(e.length()).isEqualTo(3));
      waiting.forEach(w -> w.cancel(true));
      held.close();
    }
  }

  @Test
  void handOff_waiterInTheSameProcess_endsThePredecessorAsHandedOff() throws Exception {
    try (Redlock redlock = Clients.start(nodes)) {
      Lease first = redlock.lock("handed").acquire(WAIT);
      CompletableFuture<Lease> next = redlock.lock("handed").acquireAsync(WAIT);
      first.close();
      assertThat(first.whenEnded().toCompletableFuture().get(2, TimeUnit.SECONDS))
          .isEqualTo(LeaseEnd.HANDED_OFF);
      try (Lease second = next.get(2, TimeUnit.SECONDS)) {
        assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
        assertThat(second.id()).isNotEqualTo(first.id());
      }
    }
  }

  @Test
  void release_waiterInAnotherClient_isWokenLongBeforeItsPoll() throws Exception {
    LockOptions lazy = LockOptions.builder().pollInterval(Duration.ofMinutes(1)).build();
    try (Redlock one = Clients.start(nodes);
        Redlock two = Clients.start(nodes)) {
      long[] micros = new long[50];
      for (int i = 0; i < micros.length; i++) {
        Lease held = one.lock("woken", lazy).acquire(WAIT);
        CompletableFuture<Lease> next = two.lock("woken", lazy).acquireAsync(WAIT);
        Eventually.holds(
            () ->
                nodes.stream() // Refused: at all nodes the first time, at the door from then on.
                    .anyMatch(
                        n ->
                            "1"
                                .equals(
                                    n.command(
                                        "HGET", Clients.lockKey("woken") + ":fence", "wanted"))),
            nodes);
        long start = System.nanoTime();
        CompletableFuture<Long> got = next.thenApply(lease -> System.nanoTime());
        held.close();
        micros[i] = (got.get(5, TimeUnit.SECONDS) - start) / 1000;
        next.get().close();
      }
      Arrays.sort(micros);
      System.out.printf(
          "hand-over between clients: median %d µs, max %d µs%n", micros[25], micros[49]);
      assertThat(micros[25]).isLessThan(50_000);
    }
  }
}
