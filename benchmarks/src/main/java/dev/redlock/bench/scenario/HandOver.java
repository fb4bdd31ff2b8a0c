package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Observed;
import dev.redlock.bench.load.Rounds;
import dev.redlock.bench.load.Section;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.system.Crowd;
import dev.redlock.bench.system.JvmCrowd;
import dev.redlock.bench.system.LockClient;
import dev.redlock.bench.system.OnePerThread;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/**
 * Two clients of one system that lock one name, each with its own connections and one caller.
 * {@code hand-over} is the time from the start of a release by one client to the grant of the
 * other, which has waited for a few milliseconds; the clients alternate. The figures of sections
 * are measured while both clients ask again and again, so the client that has just released may be
 * granted the lock again first.
 */
final class HandOver implements AutoCloseable {
  /** Long enough that the waiter was refused and has subscribed to release hints. */
  private static final Duration WAITED = Duration.ofMillis(5);

  private final List<LockClient> clients;
  private final LockClient both;
  private final Crowd crowd;

  private HandOver(List<LockClient> clients) {
    this.clients = clients;
    this.both = new OnePerThread(clients);
    this.crowd = new JvmCrowd(clients);
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

  /** One of the two clients. */
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
    return times(crowd.handOver(new Rounds(Integer.MAX_VALUE, time, WAITED)));
  }

  /** From the start of a release by one client to the grant of the other, in nanoseconds. */
  static Histogram times(Observed rounds) {
    Histogram times = Drive.histogram();
    for (int i = 0; i + 1 < rounds.sections().size(); i += 2) {
      Section released = rounds.sections().get(i);
      Section granted = rounds.sections().get(i + 1);
      times.recordValue(Math.max(0, granted.grantedNanos() - released.releasingNanos()));
    }
    return times;
  }

  @Override
  public void close() {
    crowd.close();
  }
}
