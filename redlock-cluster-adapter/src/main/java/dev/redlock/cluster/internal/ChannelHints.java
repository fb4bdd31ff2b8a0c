package dev.redlock.cluster.internal;

import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.lettuce.internal.Failures;
import dev.redlock.spi.Time;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateAdapter;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Release hints through publish and subscribe, sharded or classic. The client subscribes to one
 * channel for each lock that a caller of this process was refused. It uses a separate connection to
 * the master of the slot.
 *
 * <p>Lettuce loses shard subscriptions when a slot moves to another master. So this class
 * subscribes again: after every change of the topology, when the server reports that it ended a
 * subscription, and every 2 s in any case. Each command names channels of one slot, because the
 * server rejects a command over several slots.
 */
final class ChannelHints implements HintCarrier {
  private static final Logger log = LoggerFactory.getLogger(ClusterLockNode.class);
  private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final ClusterAccess cluster;
  private final boolean sharded;

  /** Written under this; read without it to see whether there is work to do. */
  private final Map<String, Subscription> subscriptions = new ConcurrentHashMap<>();

  // Guarded by this.
  private final Map<Address, SideConnection> sides = new HashMap<>();
  private Time.@Nullable Cancellable sweep;
  private boolean soon;
  private boolean closed;

  ChannelHints(ClusterAccess cluster, boolean sharded) {
    this.cluster = cluster;
    this.sharded = sharded;
  }

  /** A connection for subscriptions to one master; it may still be in the making. */
  static final class SideConnection {
    private final Address address;
    private @Nullable StatefulRedisPubSubConnection<String, String> connection;
    private boolean gone;

    private SideConnection(Address address) {
      this.address = address;
    }

    boolean isUsedFor(@Nullable Address master) {
      return !gone && address.equals(master);
    }
  }

  @Override
  public String command() {
    return sharded ? "SPUBLISH" : "PUBLISH";
  }

  @Override
  public void watch(String lockKey, int slot, long nodeMicros) {
    if (isRevived(lockKey)) {
      return;
    }
    synchronized (this) {
      if (closed || isRevived(lockKey)) {
        return;
      }
      Subscription made = new Subscription(lockKey, slot);
      subscriptions.put(lockKey, made);
      subscribe(slot, List.of(made));
      if (sweep == null) {
        sweep = cluster.time().schedule(this::sweep, SWEEP_NANOS);
      }
    }
  }

  @Override
  public void forget(String lockKey) {
    Subscription known = subscriptions.get(lockKey);
    if (known != null) {
      known.idle(cluster.time().nanos());
    }
  }

  @Override
  public void revive(String lockKey) {
    var unused = isRevived(lockKey);
  }

  /** Within the map: the sweep must not remove what a caller has just begun to watch. */
  private boolean isRevived(String lockKey) {
    return subscriptions.computeIfPresent(
            lockKey,
            (key, known) -> {
              known.revive();
              return known;
            })
        != null;
  }

  @Override
  public void releasing(String lockKey, long token) {
    Subscription known = subscriptions.get(lockKey);
    if (known != null) {
      known.releasing(token);
    }
  }

  @Override
  public void onTopology() {
    synchronized (this) {
      for (SideConnection side : new ArrayList<>(sides.values())) {
        if (subscriptions.values().stream().noneMatch(s -> side.address.equals(home(s)))) {
          drop(side);
        }
      }
      resubscribe(false);
    }
  }

  @Override
  public void onUsable(MasterLink link) {
    if (!subscriptions.isEmpty()) {
      synchronized (this) {
        resubscribe(false);
      }
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      if (sweep != null) {
        sweep.cancel();
      }
      sides.values().forEach(side -> side.gone = true); // SideClient closes them with itself.
      sides.clear();
      subscriptions.clear();
    }
  }

  private @Nullable Address home(Subscription s) {
    MasterLink link = cluster.linkOf(s.slot());
    return link == null ? null : link.address();
  }

  // Subscribing. All methods are called under this.

  private void sweep() {
    synchronized (this) {
      long now = cluster.time().nanos();
      for (Subscription s : new ArrayList<>(subscriptions.values())) {
        if (subscriptions.computeIfPresent(s.lockKey(), (key, known) -> known.kept(now)) == null) {
          unsubscribe(s);
        }
      }
      resubscribe(true);
      sweep =
          subscriptions.isEmpty() || closed
              ? null
              : cluster.time().schedule(this::sweep, SWEEP_NANOS);
    }
  }

  /**
   * Subscribes every channel that is not subscribed at the current master of its slot.
   *
   * @param all also the channels that should be subscribed already; the server does nothing for
   *     them, unless it lost the subscription unnoticed
   */
  private void resubscribe(boolean all) {
    Map<Integer, List<Subscription>> bySlot = new TreeMap<>();
    for (Subscription s : subscriptions.values()) {
      SideConnection asked = s.asked();
      if (all || asked == null || !asked.isUsedFor(home(s))) {
        bySlot.computeIfAbsent(s.slot(), slot -> new ArrayList<>()).add(s);
      }
    }
    bySlot.forEach(this::subscribe);
  }

  private void subscribe(int slot, List<Subscription> of) {
    Address address = home(of.get(0));
    if (address == null || closed) {
      return; // The next change of the topology, or the sweep, retries.
    }
    SideConnection side = sides.get(address);
    if (side == null) {
      connect(address); // When it is connected, all its channels are subscribed.
      return;
    }
    StatefulRedisPubSubConnection<String, String> connection = side.connection;
    if (connection == null) {
      return;
    }
    String[] channels = of.stream().map(Subscription::channel).toArray(String[]::new);
    of.forEach(s -> s.ask(side));
    try {
      CompletionStage<Void> asked =
          sharded
              ? connection.async().ssubscribe(channels)
              : connection.async().subscribe(channels);
      asked.whenComplete((done, failure) -> subscribed(side, of, failure));
    } catch (RuntimeException e) {
      subscribed(side, of, e);
    }
  }

  private void subscribed(SideConnection side, List<Subscription> of, @Nullable Throwable failure) {
    List<String> uncovered = new ArrayList<>();
    synchronized (this) {
      for (Subscription s : of) {
        if (s.asked() != side) {
          continue;
        }
        if (failure != null) {
          s.lose();
          continue;
        }
        MasterLink link = cluster.linkOf(s.slot());
        if (s.confirm(link != null && link.tracks())) {
          uncovered.add(s.lockKey());
        }
      }
      if (failure != null) {
        log.debug("subscribing at {} failed: {}", side.address, Failures.message(failure));
        trySoon();
      }
    }
    if (failure != null) {
      cluster.topologyDoubtful();
    }
    uncovered.forEach(cluster::mayBeFree);
  }

  private void unsubscribe(Subscription s) {
    SideConnection side = s.asked();
    StatefulRedisPubSubConnection<String, String> connection =
        side == null ? null : side.connection;
    if (connection == null) {
      return;
    }
    try {
      var unused =
          sharded
              ? connection.async().sunsubscribe(s.channel())
              : connection.async().unsubscribe(s.channel());
    } catch (RuntimeException e) {
      // The connection is gone, and the subscription with it.
      log.debug("unsubscribing failed: {}", Failures.message(e));
    }
  }

  private void trySoon() {
    if (!soon && !closed) {
      soon = true;
      cluster
          .time()
          .schedule(
              () -> {
                synchronized (this) {
                  soon = false;
                  resubscribe(false);
                }
              },
              SOON_NANOS);
    }
  }

  // Connections.

  private void connect(Address address) {
    SideConnection side = new SideConnection(address);
    sides.put(address, side);
    try {
      cluster
          .sideClient()
          .connect(
              cluster.uriOf(address),
              (client, uri) -> client.connectPubSubAsync(StringCodec.UTF8, uri))
          .whenComplete((made, failure) -> connected(side, made, failure));
    } catch (RuntimeException e) {
      connected(side, null, e);
    }
  }

  private void connected(
      SideConnection side,
      @Nullable StatefulRedisPubSubConnection<String, String> made,
      @Nullable Throwable failure) {
    if (made == null) {
      log.debug("no connection for subscriptions to {}: {}", side.address, failure);
      synchronized (this) {
        drop(side); // The sweep retries; waiters still have invalidations and the fallback poll.
      }
      cluster.topologyDoubtful();
      return;
    }
    made.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String token) {
            received(channel, token);
          }

          @Override
          public void smessage(String channel, String token) {
            received(channel, token);
          }

          @Override
          public void sunsubscribed(String channel, long count) {
            lost(side, channel);
          }
        });
    made.addListener(
        new RedisConnectionStateAdapter() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
            broken(side);
          }
        });
    boolean late;
    synchronized (this) {
      late = side.gone || closed;
      if (!late) {
        side.connection = made;
        resubscribe(false);
      }
    }
    if (late) {
      var unused = made.closeAsync();
    } else if (!made.isOpen()) {
      broken(side);
    }
  }

  private void received(String channel, String token) {
    String lockKey = Subscription.lockKeyOf(channel);
    Subscription s = lockKey == null ? null : subscriptions.get(lockKey);
    // Also without a waiter: the refusal of a caller may not have arrived yet.
    if (s != null && !s.isOwn(token)) {
      cluster.mayBeFree(s.lockKey());
    }
  }

  /** The server ended a subscription: its slot has another master, or this client unsubscribed. */
  private void lost(SideConnection side, String channel) {
    synchronized (this) {
      for (Subscription s : subscriptions.values()) {
        if (s.asked() == side && s.channel().equals(channel)) {
          s.lose();
          trySoon();
          cluster.topologyDoubtful();
        }
      }
    }
  }

  private void broken(SideConnection side) {
    synchronized (this) {
      if (side.gone) {
        return;
      }
      drop(side);
      trySoon();
    }
    cluster.topologyDoubtful();
  }

  private void drop(SideConnection side) {
    side.gone = true;
    sides.remove(side.address, side);
    StatefulRedisPubSubConnection<String, String> connection = side.connection;
    if (connection != null) {
      var unused = connection.closeAsync();
    }
  }
}
