package dev.redlock.cluster.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.Time;
import io.lettuce.core.RedisURI;
import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A sweep removes what no caller watches, and nothing that a caller watches again. */
class SweepTest {
  private static final String KEY = "redlock:{a}";

  private final TestCluster cluster = new TestCluster();

  @Test
  void streams_watchedAgainWhileTheSweepRemovesThem_stay() throws Exception {
    StreamHints hints = new StreamHints(cluster);
    assertThat(sweptWhileWatchedAgain(hints, "streams")).containsKey(KEY);
  }

  @Test
  void subscriptions_watchedAgainWhileTheSweepRemovesThem_stay() throws Exception {
    ChannelHints hints = new ChannelHints(cluster, true);
    assertThat(sweptWhileWatchedAgain(hints, "subscriptions")).containsKey(KEY);
  }

  @Test
  void streams_thatNoCallerWatches_areRemoved() throws Exception {
    StreamHints hints = new StreamHints(cluster);
    assertThat(swept(hints, "streams", () -> {})).isEmpty();
  }

  @Test
  void subscriptions_thatNoCallerWatches_areRemoved() throws Exception {
    ChannelHints hints = new ChannelHints(cluster, true);
    assertThat(swept(hints, "subscriptions", () -> {})).isEmpty();
  }

  private Map<String, Object> sweptWhileWatchedAgain(HintCarrier hints, String field)
      throws Exception {
    return swept(hints, field, () -> hints.watch(KEY, 1, 0));
  }

  /**
   * Lets an entry become idle for longer than it lingers, and sweeps.
   *
   * @param atRemoval runs after the sweep has found the entry idle, before it removes it
   * @return the entries that are left
   */
  private Map<String, Object> swept(HintCarrier hints, String field, Runnable atRemoval)
      throws Exception {
    InterruptedMap entries = new InterruptedMap();
    Field map = hints.getClass().getDeclaredField(field);
    map.setAccessible(true);
    map.set(hints, entries);
    hints.watch(KEY, 1, 0);
    hints.forget(KEY);
    cluster.now += TimeUnit.SECONDS.toNanos(60);
    entries.atRemoval = atRemoval;
    cluster.timers.remove().run();
    return entries;
  }

  /** Runs a task once before it removes an entry, or decides whether to remove it. */
  private static final class InterruptedMap extends ConcurrentHashMap<String, Object> {
    private static final long serialVersionUID = 1;

    private transient @Nullable Runnable atRemoval;

    private void interrupt() {
      Runnable task = atRemoval;
      atRemoval = null;
      if (task != null) {
        task.run();
      }
    }

    @Override
    public Object remove(Object key) {
      interrupt();
      return super.remove(key);
    }

    @Override
    public Object computeIfPresent(
        String key, BiFunction<? super String, ? super Object, ?> remapping) {
      interrupt();
      return super.computeIfPresent(key, remapping);
    }
  }

  /** A cluster of which no master is known. */
  private static final class TestCluster implements ClusterAccess, Time {
    private final Queue<Runnable> timers = new ArrayDeque<>();
    private long now = 1;

    @Override
    public long nanos() {
      return now;
    }

    @Override
    public long wallMillis() {
      return 0;
    }

    @Override
    public Cancellable schedule(Runnable task, long delayNanos) {
      timers.add(task);
      return () -> timers.remove(task);
    }

    @Override
    public Time time() {
      return this;
    }

    @Override
    public @Nullable MasterLink linkOf(int slot) {
      return null;
    }

    @Override
    public SideClient sideClient() {
      throw new IllegalStateException("no master is known");
    }

    @Override
    public RedisURI uriOf(Address address) {
      throw new IllegalStateException("no master is known");
    }

    @Override
    public void topologyDoubtful() {}

    @Override
    public void mayBeFree(String lockKey) {}
  }
}
