package dev.redlock.bench.system;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.micrometer.RedlockMetrics;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/**
 * This library with its defaults, but without the restart guard: the masters are new and have
 * forgotten nothing.
 */
public final class RedlockClient implements LockClient {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Redlock redlock;

  /** Locks are reused, as in an application. They contain only the encoded names. */
  private final ConcurrentMap<String, DistributedLock> locks = new ConcurrentHashMap<>();

  private RedlockClient(Redlock redlock) {
    this.redlock = redlock;
  }

  /** With the meters of redlock-micrometer, in a Prometheus registry. */
  static RedlockClient metered(List<String> uris) {
    RedlockMetrics metrics = RedlockMetrics.create();
    metrics.bindTo(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
    return of(Redlock.builder().nodes(uris.toArray(String[]::new)).listener(metrics));
  }

  /** Connects with these options. Returns when all nodes vote. */
  public static RedlockClient connect(List<String> uris, LockOptions options) {
    return of(Redlock.builder().nodes(uris.toArray(String[]::new)).defaults(options));
  }

  /**
   * Clients with connections of their own. They share the I/O threads, because this machine has
   * fewer processors than they have clients; everything else is as in separate processes.
   */
  static Crowd crowd(List<String> uris, LockOptions options, int count) {
    InvalidationCounter invalidations = new InvalidationCounter();
    ClientResources shared =
        ClientResources.builder()
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            .nettyCustomizer(invalidations)
            .build();
    LettuceOptions lettuce = LettuceOptions.builder().clientResources(shared).build();
    return JvmCrowd.of(
        count,
        () ->
            of(
                Redlock.builder()
                    .nodes(LettuceNodes.standalone(uris, lettuce).toArray(LockNode[]::new))
                    .defaults(options)),
        invalidations::count,
        () -> shared.shutdown(0, 1, TimeUnit.SECONDS));
  }

  /** Builds the client without the restart guard. Returns when all nodes vote. */
  public static RedlockClient of(RedlockBuilder builder) {
    Redlock redlock = builder.restartGuard(RestartGuard.OFF).build();
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
        () ->
            redlock.operations().nodes().stream()
                .allMatch(node -> node.state() == NodeState.State.VOTING));
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
