package dev.redlock.cluster.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.lettuce.internal.ThreadSharingClient;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.Time;
import io.lettuce.core.RedisURI;
import java.lang.reflect.Field;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A sweep removes what no caller wants, and nothing that a caller wants again. */
class WatchedLocksTest {
  private static final LockKeys KEYS = LockKeys.of("redlock", List.of("a"));

  private final TestCluster cluster = new TestCluster();
  private int listens;
  private final WatchedLocks locks =
      new WatchedLocks(cluster, "", its -> (key, slot, nodeMicros) -> () -> listens++);

  @Test
  void locks_refusedAgainWhileTheSweepRemovesThem_stay() throws Exception {
    assertThat(swept(this::refused)).containsKey(KEYS.lockKey(0));
  }

  @Test
  void locks_thatACallerWaitsFor_stay() throws Exception {
    locks.waiting(KEYS);
    assertThat(swept(() -> {})).containsKey(KEYS.lockKey(0));
  }

  @Test
  void locks_thatNoCallerWaitsFor_areRemoved() throws Exception {
    assertThat(swept(() -> {})).isEmpty();
  }

  @Test
  void listening_thatIsDueWithoutACaller_isMadeUpForTheNextOne() {
    refused();
    locks.onTopology();
    assertThat(listens).isEqualTo(1);
    locks.waiting(KEYS);
    cluster.timers.remove(); // The sweep.
    cluster.timers.remove().run();
    assertThat(listens).isEqualTo(2);
  }

  private void refused() {
    locks.refused(KEYS, 1, 0, false);
  }

  /**
   * Lets an entry become idle for longer than it lingers, and sweeps.
   *
   * @param atRemoval runs before the sweep decides about the entry
   * @return the entries that are left
   */
  private Map<String, Object> swept(Runnable atRemoval) throws Exception {
    InterruptedMap entries = new InterruptedMap();
    Field map = WatchedLocks.class.getDeclaredField("watched");
    map.setAccessible(true);
    map.set(locks, entries);
    refused();
    cluster.now += TimeUnit.SECONDS.toNanos(60);
    entries.atRemoval = atRemoval;
    cluster.timers.remove().run();
    return entries;
  }

  /** Runs a task once before it removes an entry, or decides whether to remove it. */
  private static final class InterruptedMap extends ConcurrentHashMap<String, Object> {
    private static final long serialVersionUID = 1;

    private transient @Nullable Runnable atRemoval;

    @Override
    public Object computeIfPresent(
        String key, BiFunction<? super String, ? super Object, ?> remapping) {
      Runnable task = atRemoval;
      atRemoval = null;
      if (task != null) {
        task.run();
      }
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
    public ThreadSharingClient sideClient() {
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
