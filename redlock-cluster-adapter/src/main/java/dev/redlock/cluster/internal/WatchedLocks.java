package dev.redlock.cluster.internal;

import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.Time;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The locks whose release hints this process wants. Every acquire of a free lock waits for one
 * round trip, so the client watches a lock only after a master refused a caller. A caller that
 * waited is likely to wait again, so a watched lock stays watched for some seconds after its last
 * waiter.
 *
 * <p>This class decides which locks are watched, and delivers what is reported. The {@link
 * HintCarrier} makes the masters report. It listens again after each event that can end a report,
 * soon after a failure, and every 2 s in any case.
 */
final class WatchedLocks {
  private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final ClusterAccess cluster;
  private final String command;
  private final HintCarrier carrier;

  /**
   * Lock key to the number of local queues that wait for it. Written by lock queues, read by I/O
   * threads.
   */
  private final Map<String, Integer> waiting = new ConcurrentHashMap<>();

  private final Map<String, Watched> watched = new ConcurrentHashMap<>();

  /** Whether {@link #listenSoon} has scheduled its task. */
  private final AtomicBoolean soon = new AtomicBoolean();

  // Guarded by this.
  private Time.@Nullable Cancellable sweep;
  private boolean closed;

  /**
   * @param command by which a release publishes its hint; see {@link EncodedRequest#of}
   * @param carrier makes the carrier for these locks
   */
  WatchedLocks(ClusterAccess cluster, String command, Function<WatchedLocks, HintCarrier> carrier) {
    this.cluster = cluster;
    this.command = command;
    this.carrier = carrier.apply(this);
  }

  private static final class Watched {
    private final int slot;
    private final HintCarrier.Source source;

    /**
     * Whether the carrier must listen for the next caller: it did not yet, or no caller waited when
     * it had to listen again. It does not for each caller, because a failure would be tried again
     * too often. Written by I/O threads and the timer, read by lock queues too.
     */
    private volatile boolean due = true;

    /** When a caller is known to have waited. Written within the map. */
    private long wantedNanos;

    /**
     * The token of this client's newest release, whose hint is ignored. Written by the senders,
     * read by I/O threads.
     */
    private volatile @Nullable String ownToken;

    private Watched(int slot, HintCarrier.Source source) {
      this.slot = slot;
      this.source = source;
    }

    private Watched wanted(long nowNanos) {
      wantedNanos = nowNanos;
      return this;
    }
  }

  /** See {@link EncodedRequest#of}. */
  String command() {
    return command;
  }

  // This process waits.

  void waiting(LockKeys keys) {
    for (int i = 0; i < keys.size(); i++) {
      String lockKey = keys.lockKey(i);
      waiting.merge(lockKey, 1, Integer::sum);
      Watched known = watched.get(lockKey);
      if (known != null && known.due) { // Netty would leave objects in this thread's locals.
        cluster.time().schedule(() -> listen(lockKey, known), 0);
      }
    }
  }

  void idle(LockKeys keys) {
    for (int i = 0; i < keys.size(); i++) {
      waiting.computeIfPresent(keys.lockKey(i), (key, count) -> count == 1 ? null : count - 1);
    }
  }

  boolean isWaitedFor(LockKeys keys) {
    return waiting.containsKey(keys.lockKey(0));
  }

  /**
   * A master refused an acquire, and the caller's lock machine has received the reply.
   *
   * @param waited whether {@link #waiting} was called before the refusal. If so, a caller that
   *     continues to wait is still counted. If not, the reply was faster than that call, which is
   *     still to come
   */
  void refused(LockKeys keys, int slot, long nodeMicros, boolean waited) {
    long now = cluster.time().nanos();
    for (int i = 0; i < keys.size(); i++) {
      String lockKey = keys.lockKey(i);
      if (waited && !waiting.containsKey(lockKey)) {
        continue; // It was a single try, or the caller gave up.
      }
      Watched lock =
          watched.compute(
              lockKey,
              (key, known) ->
                  (known == null ? new Watched(slot, carrier.of(key, slot, nodeMicros)) : known)
                      .wanted(now));
      if (lock.due) {
        lock.due = false;
        lock.source.listen();
      }
    }
    synchronized (this) {
      if (sweep == null && !closed) {
        sweep = cluster.time().schedule(this::sweep, SWEEP_NANOS);
      }
    }
  }

  /** This client sends a release itself, and ignores the hint that the release publishes. */
  void releasing(String lockKey, long token) {
    Watched lock = watched.get(lockKey);
    if (lock != null) {
      lock.ownToken = Long.toString(token);
    }
  }

  // What can end a report.

  void onTopology() {
    stopped(lock -> true);
  }

  /** A master has a new connection or a new state. */
  void onUsable(MasterLink link) {
    stopped(lock -> cluster.linkOf(lock.slot) == link);
  }

  private void stopped(Predicate<Watched> which) {
    watched.values().stream().filter(which).forEach(lock -> lock.source.stopped());
    listen();
  }

  /** A master sent the invalidation of a key with the suffix of hint keys. */
  void onInvalidated(String hintKey) {
    String lockKey = lockKeyOf(hintKey);
    Watched lock = watched.get(lockKey);
    if (lock != null) {
      lock.source.stopped();
      listen(lockKey, lock);
    }
  }

  /** Listens for each lock that a caller waits for, where the carrier does not yet. */
  void listen() {
    watched.forEach(this::listen);
  }

  private void listen(String lockKey, Watched lock) {
    lock.due = !waiting.containsKey(lockKey);
    if (!lock.due) {
      lock.source.listen();
    }
  }

  /** Listens after a moment, in which a failure may pass. */
  void listenSoon() {
    if (soon.compareAndSet(false, true)) {
      cluster
          .time()
          .schedule(
              () -> {
                soon.set(false);
                listen();
              },
              SOON_NANOS);
    }
  }

  void forget(Address gone) {
    carrier.forget(gone);
  }

  // Releases.

  /** The lock with this hint key: its channel, or its stream. */
  static String lockKeyOf(String hintKey) {
    return hintKey.substring(0, hintKey.length() - EncodedRequest.FREED.length());
  }

  /** What reports the releases of the lock; null if the lock is not watched. */
  HintCarrier.@Nullable Source source(String lockKey) {
    Watched lock = watched.get(lockKey);
    return lock == null ? null : lock.source;
  }

  /**
   * Other processes released the lock with these tokens, or this one did. Delivered without a
   * waiter too: the refusal of a caller may not have arrived yet.
   */
  void released(String lockKey, List<String> tokens) {
    Watched lock = watched.get(lockKey);
    if (lock != null && !tokens.stream().allMatch(token -> token.equals(lock.ownToken))) {
      cluster.mayBeFree(lockKey);
    }
  }

  private void sweep() {
    long now = cluster.time().nanos();
    for (String lockKey : watched.keySet()) {
      // Within the map: it must not remove what a master has just refused.
      Watched kept =
          watched.computeIfPresent(
              lockKey,
              (key, lock) -> {
                if (waiting.containsKey(key)) {
                  return lock.wanted(now);
                } else if (now - lock.wantedNanos <= LINGER_NANOS) {
                  return lock;
                }
                lock.source.end();
                return null;
              });
      if (kept != null && waiting.containsKey(lockKey)) {
        kept.source.refresh();
      }
    }
    synchronized (this) {
      sweep =
          closed || watched.isEmpty() ? null : cluster.time().schedule(this::sweep, SWEEP_NANOS);
    }
  }

  void close() {
    synchronized (this) {
      closed = true;
      if (sweep != null) {
        sweep.cancel();
      }
    }
    watched.clear();
    carrier.close();
  }
}
