package dev.redlock.cluster.internal;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.ClientSetup;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.spi.Time;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Asks the cluster who serves what: every few seconds, and at once when something suggests that it
 * has changed, though not all the time. Lettuce's client is used for this alone: it reconnects its
 * own connections by itself, and would send again what may have been executed.
 */
final class TopologyWatch {
  /** A failover takes seconds and is stumbled over by every request meanwhile. */
  private static final long LEAST_GAP_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private static final long MOST_GAP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final RedisClusterClient client;
  private final Time time;
  private final long periodNanos;
  private final BiPredicate<Topology, Long> onTopology;
  private final Consumer<Throwable> onFailure;
  private final CompletableFuture<Void> quiet = new CompletableFuture<>();

  // Guarded by this.
  private boolean asking;
  private boolean askAgain;
  private boolean closed;
  private long askedNanos;
  private long gapNanos = LEAST_GAP_NANOS;
  private Time.@Nullable Cancellable next;

  /**
   * @param onTopology told what the cluster says, and since when that may be true; whether it is
   *     news
   */
  TopologyWatch(
      List<NodeUri> seeds,
      LettuceOptions options,
      Duration period,
      ClientResources resources,
      Time time,
      BiPredicate<Topology, Long> onTopology,
      Consumer<Throwable> onFailure) {
    this.time = time;
    this.periodNanos = period.toNanos();
    this.onTopology = onTopology;
    this.onFailure = onFailure;
    List<RedisURI> uris = new ArrayList<>();
    for (NodeUri seed : seeds) {
      Duration patience = options.connectTimeout().multipliedBy(2); // Connecting and asking.
      uris.add(ClientSetup.dressed(seed.toRedisUri(), options, patience));
    }
    client = RedisClusterClient.create(resources, uris);
    ClusterClientOptions.Builder builder =
        ClusterClientOptions.builder()
            // Whom the majority has given up is asked nothing, until it is back.
            .nodeFilter(node -> !node.is(NodeFlag.FAIL) && !node.is(NodeFlag.NOADDR))
            .topologyRefreshOptions(
                ClusterTopologyRefreshOptions.builder().dynamicRefreshSources(true).build());
    ClientSetup.connecting(builder, options);
    client.setOptions(builder.build());
  }

  /** Asks now, or as soon as it was not asked just before. */
  void refresh() {
    synchronized (this) {
      if (closed) {
        return;
      }
      if (asking) {
        askAgain = true;
        return;
      }
      long wait = askedNanos == 0 ? 0 : askedNanos + gapNanos - time.nanos();
      if (wait > 0) {
        later(wait);
        return;
      }
      asking = true;
      askedNanos = time.nanos();
    }
    ask();
  }

  private void ask() {
    CompletionStage<Void> asked;
    try {
      asked = client.refreshPartitionsAsync();
    } catch (RuntimeException e) {
      done(e);
      return;
    }
    asked.whenComplete((nothing, failure) -> done(failure));
  }

  private void done(@Nullable Throwable failure) {
    long since;
    synchronized (this) {
      since = askedNanos;
      if (closed) {
        quiet.complete(null);
        return;
      }
    }
    boolean news = false;
    try {
      if (failure == null) {
        news = onTopology.test(Topology.of(client.getPartitions()), since);
      } else {
        onFailure.accept(failure);
      }
    } finally {
      synchronized (this) {
        asking = false;
        if (closed) {
          quiet.complete(null);
        }
        gapNanos = news ? LEAST_GAP_NANOS : Math.min(MOST_GAP_NANOS, gapNanos * 5 / 4);
        boolean soon = askAgain || failure != null;
        askAgain = false;
        if (next != null) {
          next.cancel();
          next = null;
        }
        later(soon ? gapNanos : periodNanos);
      }
    }
  }

  /** One appointment at a time, the earliest. Called under the lock. */
  private void later(long delayNanos) {
    if (closed || (next != null && delayNanos > MOST_GAP_NANOS)) {
      return;
    }
    if (next != null) {
      next.cancel();
    }
    next =
        time.schedule(
            () -> {
              synchronized (this) {
                next = null;
              }
              refresh();
            },
            delayNanos);
  }

  /** Lets a question that is out come to its end first: its connections need their threads. */
  CompletionStage<Void> close() {
    synchronized (this) {
      closed = true;
      if (next != null) {
        next.cancel();
      }
      if (!asking) {
        quiet.complete(null);
      }
    }
    return quiet
        .thenCompose(nothing -> client.shutdownAsync(0, 1, TimeUnit.SECONDS))
        .exceptionally(failure -> null);
  }
}
