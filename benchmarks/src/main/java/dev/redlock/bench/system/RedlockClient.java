package dev.redlock.bench.system;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.cluster.ReleaseNotices;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** This library, with its defaults; but the masters are new, and known to be, so no quarantine. */
public final class RedlockClient implements LockClient {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Redlock redlock;

  /** Locks are kept as an application would; they hold the encoded names and nothing else. */
  private final ConcurrentMap<String, DistributedLock> locks = new ConcurrentHashMap<>();

  private RedlockClient(Redlock redlock) {
    this.redlock = redlock;
  }

  static RedlockClient connect(List<String> uris, boolean fair) {
    return connect(uris, LockOptions.builder().fair(fair).build());
  }

  /** With these options; returns when all nodes vote. */
  public static RedlockClient connect(List<String> uris, LockOptions options) {
    return of(Redlock.builder().nodes(uris.toArray(String[]::new)).defaults(options));
  }

  /** Over one cluster, which tells of releases so. */
  public static RedlockClient connectToCluster(List<String> uris, ReleaseNotices notices) {
    return of(
        Redlock.builder()
            .node(
                ClusterLockNode.connect(uris, ClusterOptions.builder().notices(notices).build())));
  }

  /** As prepared, without the restart guard; returns when all nodes vote. */
  public static RedlockClient of(RedlockBuilder builder) {
    Redlock redlock = builder.restartGuard(RestartGuard.off()).build();
    try {
      awaitVotes(redlock);
    } catch (RuntimeException e) {
      redlock.close();
      throw e;
    }
    return new RedlockClient(redlock);
  }

  /** Returns when all nodes vote. */
  public static void awaitVotes(Redlock redlock) {
    Waiting.until(
        "all nodes vote",
        Duration.ofSeconds(15),
        () -> redlock.nodes().stream().allMatch(node -> node.state().equals("VOTING")));
  }

  /** The client itself. */
  public Redlock redlock() {
    return redlock;
  }

  @Override
  public Held acquire(String name) {
    return new HeldLease(lock(name).acquire(PATIENCE));
  }

  @Override
  public boolean isAsync() {
    return true;
  }

  @Override
  public CompletionStage<Held> acquireAsync(String name) {
    return lock(name).acquireAsync(PATIENCE).thenApply(HeldLease::new);
  }

  private DistributedLock lock(String name) {
    return locks.computeIfAbsent(name, redlock::lock);
  }

  @Override
  public void close() {
    redlock.close();
  }

  private record HeldLease(Lease lease) implements Held {
    @Override
    public void release() {
      lease.close();
    }

    @Override
    public CompletionStage<?> releaseAsync() {
      return lease.releaseAsync();
    }
  }
}
