package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.system.Held;
import dev.redlock.bench.system.LockClient;
import dev.redlock.bench.system.OnePerThread;
import dev.redlock.bench.system.Waiting;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/**
 * Two clients of one system that want one name, with connections of their own and a caller each.
 * {@code hand-over} is from the begin of a release by one to the grant of the other, which has been
 * waiting for a few milliseconds, in turn; the figures of sections are those of both asking again
 * and again, when the one that has just released may well come before the other.
 */
final class HandOver implements AutoCloseable {
  /** Long enough to be refused, and to have subscribed to whatever tells of a release. */
  private static final Duration WAITED = Duration.ofMillis(5);

  private static final String NAME = "hand-over";

  private final List<LockClient> clients;
  private final LockClient both;
  private final List<ExecutorService> callers;

  private HandOver(List<LockClient> clients) {
    this.clients = clients;
    this.both = new OnePerThread(clients);
    this.callers =
        clients.stream()
            .map(client -> Executors.newSingleThreadExecutor(HandOver::daemon))
            .toList();
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "bench-hand-over");
    thread.setDaemon(true);
    return thread;
  }

  static HandOver between(Supplier<LockClient> connect) {
    LockClient one = connect.get();
    try {
      return new HandOver(List.of(one, connect.get()));
    } catch (RuntimeException e) {
      one.close();
      throw e;
    }
  }

  /** One of the two. */
  LockClient client() {
    return clients.get(0);
  }

  void warmUp(Run run) throws Exception {
    Drive.run(both, contended(run.time(300, 3000)));
    turns(run.time(200, 1000));
  }

  void measure(Run run, String scenario, String system, Iterable<RedisNode> masters)
      throws Exception {
    Commands before = Commands.of(masters);
    Slice slice = Drive.run(both, contended(run.time(400, 3000)));
    run.sections(scenario, system, slice, Commands.of(masters).since(before));
    Histogram turns = turns(run.time(400, 3000));
    run.percentiles(scenario, system, "hand-over-", turns);
    run.results().curve(scenario, system, turns);
  }

  private Load contended(Duration time) {
    return Load.contended(2, time);
  }

  private Histogram turns(Duration time) throws Exception {
    Histogram turns = Drive.histogram();
    Held held = acquire(0).get().held();
    int holder = 0;
    for (long start = System.nanoTime(); System.nanoTime() - start < time.toNanos(); ) {
      int next = 1 - holder;
      Future<Granted> waiting = acquire(next);
      Waiting.pause(WAITED);
      Future<Long> released = release(holder, held);
      Granted granted = waiting.get();
      turns.recordValue(Math.max(0, granted.atNanos() - released.get()));
      held = granted.held();
      holder = next;
    }
    release(holder, held).get();
    return turns;
  }

  private record Granted(Held held, long atNanos) {}

  private Future<Granted> acquire(int caller) {
    return callers
        .get(caller)
        .submit(
            () -> {
              Held held = clients.get(caller).acquire(NAME);
              return new Granted(held, System.nanoTime());
            });
  }

  /** When it began. */
  private Future<Long> release(int caller, Held held) {
    return callers
        .get(caller)
        .submit(
            () -> {
              long begin = System.nanoTime();
              held.release();
              return begin;
            });
  }

  @Override
  public void close() {
    callers.forEach(ExecutorService::shutdownNow);
    both.close();
  }
}
