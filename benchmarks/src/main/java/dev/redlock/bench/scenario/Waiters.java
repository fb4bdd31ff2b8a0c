package dev.redlock.bench.scenario;

import dev.redlock.bench.system.FloorClient;
import dev.redlock.bench.system.Held;
import dev.redlock.bench.system.JvmContender;
import dev.redlock.bench.system.LockClient;
import dev.redlock.bench.system.Peer;
import dev.redlock.bench.system.RedlockClient;
import dev.redlock.bench.system.Waiting;
import dev.redlock.testkit.RedisNodes;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Futures that wait for a lock that another client holds, and are then served one after another.
 * {@code waiters} is with 1,000 futures; other names contain the number. {@code drain/s} is the
 * number of waiters that were served per second; for the floor it is the rate of consecutive rounds
 * without a waiter.
 */
public final class Waiters implements Scenario {
  private static final int HEADLINE = 1000;
  private static final String NAME = "waited-for";

  @Override
  public String name() {
    return "waiters";
  }

  @Override
  public void measure(Run run) throws Exception {
    List<Peer> peers =
        run.present(Peer.REDLOCK, Peer.REDLOCK_MAJORITY, Peer.FLOOR, Peer.REDISSON_RLOCK);
    try (RedisNodes nodes = RedisNodes.start(5)) {
      for (int repeat = 0; repeat < run.times(1, 3); repeat++) {
        for (int waiters : new int[] {10, HEADLINE, 10_000}) {
          for (Peer peer : peers) {
            // Redisson's queues of futures suit some thousands: with 10,000 it needs minutes.
            if (waiters <= HEADLINE || peer != Peer.REDISSON_RLOCK) {
              try (LockClient client = connect(peer, nodes.uris());
                  LockClient holder = connect(peer, nodes.uris())) {
                measure(run, nodes, peer, client, holder, waiters);
              }
            }
          }
        }
      }
    }
  }

  private static LockClient connect(Peer peer, List<String> uris) {
    return peer.isOurs()
        ? RedlockClient.connect(uris, peer.options().queueBound(20_000).build())
        : ((JvmContender) peer.open(uris)).client();
  }

  private void measure(
      Run run, RedisNodes nodes, Peer peer, LockClient client, LockClient holder, int waiters)
      throws Exception {
    String scenario = waiters == HEADLINE ? name() : name() + "-" + waiters;
    if (client instanceof FloorClient floor) {
      rounds(floor, Math.min(waiters, HEADLINE)); // Warm-up.
      run.add(scenario, peer, "drain/s", "1/s", waiters * 1e9 / rounds(floor, waiters));
      return;
    }
    wait(client, 200).forEach(CompletableFuture::join); // Warm-up.
    Held held = holder.acquire(NAME);
    long heap = usedHeap();
    int threads = threads();
    List<CompletableFuture<?>> served = wait(client, waiters);
    Waiting.pause(Duration.ofMillis(300)); // The first waiter asks and is refused.
    Commands before = Commands.of(nodes);
    long start = System.nanoTime();
    Waiting.pause(run.time(700, 5000));
    double seconds = (System.nanoTime() - start) / 1e9;
    run.add(
        scenario,
        peer,
        "commands/s waiting",
        "1/s",
        Commands.of(nodes).since(before).sent() / seconds);
    if (waiters >= HEADLINE) { // With fewer waiters, other use of the heap hides the figure.
      run.add(scenario, peer, "heap/waiter", "B", (double) (usedHeap() - heap) / waiters);
    }
    run.add(scenario, peer, "more threads", "", threads() - threads);
    long released = System.nanoTime();
    held.release();
    CompletableFuture<Void> all = CompletableFuture.allOf(served.toArray(CompletableFuture[]::new));
    try {
      all.get(60, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      long done = served.stream().filter(CompletableFuture::isDone).count();
      run.results()
          .remark(scenario + ": " + peer.label() + " served only " + done + " within 60 s");
    }
    long done = served.stream().filter(CompletableFuture::isDone).count();
    run.add(scenario, peer, "drain/s", "1/s", done * 1e9 / (System.nanoTime() - released));
  }

  private static List<CompletableFuture<?>> wait(LockClient client, int waiters) {
    List<CompletableFuture<?>> served = new ArrayList<>();
    for (int i = 0; i < waiters; i++) {
      served.add(client.acquireAsync(NAME).thenCompose(Held::releaseAsync).toCompletableFuture());
    }
    return served;
  }

  private static long rounds(FloorClient floor, int count) throws Exception {
    long start = System.nanoTime();
    Held held = floor.acquire(NAME);
    for (int i = 1; i < count; i++) {
      held = floor.handOver(held).get();
    }
    long nanos = System.nanoTime() - start;
    held.release();
    return nanos;
  }

  private static int threads() {
    return ManagementFactory.getThreadMXBean().getThreadCount();
  }

  private static long usedHeap() {
    System.gc();
    Waiting.pause(Duration.ofMillis(50)); // Gives the JVM time to drop cleared references.
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
