package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.system.Held;
import dev.redlock.bench.system.LockClient;
import dev.redlock.bench.system.Peer;
import dev.redlock.testkit.RedisNodes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Clients with separate connections that ask for a free name at the same moment. {@code settle} is
 * the time until one client holds it, {@code all} the time until each client has held it once.
 * {@code round} is the duration of a round when all clients ask at the same time, each for its own
 * name. {@code collision} is with five clients; other names contain the number.
 */
public final class Collision implements Scenario {
  private static final int HEADLINE = 5;

  @Override
  public String name() {
    return "collision";
  }

  @Override
  public void measure(Run run) throws Exception {
    try (RedisNodes nodes = RedisNodes.start(5)) {
      for (int clients :
          run.quick() ? new int[] {2, HEADLINE, 10} : new int[] {2, 3, HEADLINE, 10}) {
        for (Peer peer : run.present(Peer.REDLOCK, Peer.REDLOCK_MAJORITY, Peer.REDISSON_REDLOCK)) {
          // Ten Redisson locks are fifty clients with about fifty threads each.
          if (peer.isOurs() || clients == HEADLINE || (clients < HEADLINE && !run.quick())) {
            measure(run, nodes, peer, clients);
          }
        }
      }
    }
  }

  private void measure(Run run, RedisNodes nodes, Peer peer, int count) throws Exception {
    List<LockClient> clients = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      for (int i = 0; i < count; i++) {
        clients.add(peer.connect(nodes.uris()));
      }
      Histogram settle = Drive.histogram();
      Histogram all = Drive.histogram();
      Histogram apart = Drive.histogram();
      int warm = run.times(10, 50);
      long until = System.nanoTime() + run.time(1500, 20_000).toNanos();
      for (int i = 0; i < warm || System.nanoTime() < until; i++) {
        collide(clients, threads, i < warm ? Drive.histogram() : settle, i < warm ? null : all, i);
        apart(clients, threads, i < warm ? Drive.histogram() : apart);
      }
      String scenario = count == HEADLINE ? name() : name() + "-" + count;
      run.percentiles(scenario, peer, "settle-", settle);
      run.percentiles(scenario, peer, "all-", all);
      run.percentiles(scenario, peer, "round-", apart);
      run.results().curve(scenario, peer.label(), settle);
    } finally {
      threads.shutdownNow();
      clients.forEach(LockClient::close);
    }
  }

  /** The same load with one name per client: the duration of one round under this concurrency. */
  private static void apart(List<LockClient> clients, ExecutorService threads, Histogram round)
      throws Exception {
    CyclicBarrier barrier = new CyclicBarrier(clients.size());
    List<Future<Long>> took = new ArrayList<>();
    for (int i = 0; i < clients.size(); i++) {
      LockClient client = clients.get(i);
      String name = "collision-apart-" + i;
      took.add(
          threads.submit(
              () -> {
                barrier.await();
                long start = System.nanoTime();
                Held held = client.acquire(name);
                long now = System.nanoTime();
                held.release();
                return now - start;
              }));
    }
    for (Future<Long> each : took) {
      round.recordValue(each.get());
    }
  }

  private static void collide(
      List<LockClient> clients,
      ExecutorService threads,
      Histogram settle,
      @Nullable Histogram all,
      int round)
      throws Exception {
    long[] start = new long[1];
    CyclicBarrier barrier = new CyclicBarrier(clients.size(), () -> start[0] = System.nanoTime());
    List<Future<Long>> granted = new ArrayList<>();
    for (LockClient client : clients) {
      granted.add(
          threads.submit(
              () -> {
                barrier.await();
                Held held = client.acquire("collision-" + round % 16);
                long now = System.nanoTime();
                held.release();
                return now;
              }));
    }
    long first = Long.MAX_VALUE;
    long last = 0;
    for (Future<Long> each : granted) {
      long took = each.get() - start[0];
      first = Math.min(first, took);
      last = Math.max(last, took);
    }
    settle.recordValue(first);
    if (all != null) {
      all.recordValue(last);
    }
  }
}
