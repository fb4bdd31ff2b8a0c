package dev.redlock.internal;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Checks what a builder collected, and puts a client together. */
public final class Assembly {
  private static final int MOST_NODES = 63;
  private static final Duration DEFAULT_MAX_LEASE_TIME = Duration.ofSeconds(30);

  private Assembly() {}

  /** What a builder collected. */
  public record Parts(
      List<LockNode> nodes,
      List<ReleaseHints> hints,
      List<RedlockListener> listeners,
      LockOptions defaults,
      @Nullable Duration maxLeaseTime,
      RestartGuard restartGuard,
      String keyPrefix,
      boolean traceLeaks,
      @Nullable Executor callbackExecutor,
      @Nullable Time time) {}

  /** Checks the parts and starts the client. */
  public static Redlock start(Parts parts) {
    check(parts);
    Duration maxLeaseTime = maxLeaseTime(parts);
    checkLeaseTime(parts.defaults(), maxLeaseTime);
    LockKeys.of(parts.keyPrefix(), List.of("x")); // Refuses a bad prefix here, not at first use.
    Time given = parts.time();
    SystemTime own = given == null ? new SystemTime() : null;
    Executor executor = parts.callbackExecutor();
    ExecutorService ownExecutor = executor == null ? callbackThreads() : null;
    Client client =
        new Client(
            parts,
            maxLeaseTime,
            given != null ? given : java.util.Objects.requireNonNull(own),
            own,
            executor != null ? executor : java.util.Objects.requireNonNull(ownExecutor),
            ownExecutor);
    client.start(parts);
    return client;
  }

  private static void check(Parts parts) {
    int n = parts.nodes().size();
    if (n == 0 || n > MOST_NODES) {
      throw new IllegalArgumentException(
          "a lock needs 1 to " + MOST_NODES + " nodes, " + n + " are configured");
    }
    Set<String> names = new HashSet<>();
    for (LockNode node : parts.nodes()) {
      if (!names.add(node.name())) {
        throw new IllegalArgumentException(
            "node " + node.name() + " is configured twice: a quorum of one server is no quorum");
      }
    }
  }

  private static Duration maxLeaseTime(Parts parts) {
    Duration given = parts.maxLeaseTime();
    if (given != null) {
      return given;
    }
    Duration lease = parts.defaults().leaseTime();
    return lease.compareTo(DEFAULT_MAX_LEASE_TIME) > 0 ? lease : DEFAULT_MAX_LEASE_TIME;
  }

  static void checkLeaseTime(LockOptions options, Duration maxLeaseTime) {
    if (options.leaseTime().compareTo(maxLeaseTime) > 0) {
      throw new IllegalArgumentException(
          "leaseTime "
              + options.leaseTime()
              + " is longer than maxLeaseTime "
              + maxLeaseTime
              + ", for which a node that may have forgotten stays out");
    }
  }

  private static ExecutorService callbackThreads() {
    AtomicInteger number = new AtomicInteger();
    int threads = Math.max(2, Runtime.getRuntime().availableProcessors());
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "redlock-callback-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }
}
