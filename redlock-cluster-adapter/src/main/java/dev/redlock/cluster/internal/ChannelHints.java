package dev.redlock.cluster.internal;

import static dev.redlock.cluster.internal.Log.log;

import dev.redlock.lettuce.internal.Errors;
import dev.redlock.redis.internal.scripts.EncodedRequest;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateAdapter;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Release hints through publish and subscribe, sharded or classic: one channel for each watched
 * lock, on a separate connection to the master of its slot.
 *
 * <p>Lettuce loses shard subscriptions when a slot moves to another master, and the server may end
 * one. So each subscription remembers the connection on which it was made, and is made again when
 * the master of the slot has another one.
 */
final class ChannelHints implements HintCarrier {
  private final ClusterAccess cluster;
  private final WatchedLocks locks;
  private final boolean sharded;

  /** By master. A connection stays here until it ends, or until its server is no master. */
  private final Map<Address, CompletableFuture<StatefulRedisPubSubConnection<String, String>>>
      connections = new ConcurrentHashMap<>();

  ChannelHints(ClusterAccess cluster, WatchedLocks locks, boolean sharded) {
    this.cluster = cluster;
    this.locks = locks;
    this.sharded = sharded;
  }

  @Override
  public Source of(String lockKey, int slot, long nodeMicros) {
    return new Subscription(lockKey, slot);
  }

  @Override
  public void forget(Address gone) {
    CompletableFuture<StatefulRedisPubSubConnection<String, String>> connection =
        connections.remove(gone);
    if (connection != null) {
      connection.thenAccept(StatefulConnection::closeAsync);
    }
  }

  @Override
  public void close() {
    connections.clear(); // The client closes them with itself.
  }

  // Connections.

  /** The connection to this master; null while it is being made. */
  private @Nullable StatefulRedisPubSubConnection<String, String> connection(Address master) {
    CompletableFuture<StatefulRedisPubSubConnection<String, String>> known =
        connections.get(master);
    if (known != null) {
      return known.getNow(null);
    }
    CompletableFuture<StatefulRedisPubSubConnection<String, String>> made =
        new CompletableFuture<>();
    if (connections.putIfAbsent(master, made) == null) {
      cluster
          .sideClient()
          .connect(
              cluster.uriOf(master),
              (client, uri) -> client.connectPubSubAsync(StringCodec.UTF8, uri))
          .whenComplete(
              (connection, failure) -> {
                if (failure == null) {
                  connected(master, made, connection);
                } else {
                  ended(master, made, failure);
                }
              });
    }
    return null; // When it is connected, all its channels are subscribed.
  }

  private void connected(
      Address master,
      CompletableFuture<StatefulRedisPubSubConnection<String, String>> made,
      StatefulRedisPubSubConnection<String, String> connection) {
    connection.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String token) {
            locks.released(WatchedLocks.lockKeyOf(channel), List.of(token));
          }

          @Override
          public void smessage(String channel, String token) {
            message(channel, token);
          }

          @Override
          public void sunsubscribed(String channel, long count) {
            if (locks.source(WatchedLocks.lockKeyOf(channel)) instanceof Subscription its) {
              its.lost(connection);
            }
          }
        });
    connection.addListener(
        new RedisConnectionStateAdapter() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> its) {
            ended(master, made, null);
          }
        });
    made.complete(connection); // Closes it, if it is not needed any more.
    locks.listen();
    if (!connection.isOpen()) {
      ended(master, made, null); // It ended before it had a listener.
    }
  }

  private void ended(Address master, CompletableFuture<?> made, @Nullable Throwable failure) {
    if (!connections.remove(master, made)) {
      return; // It ended before, or is not needed any more.
    }
    if (failure == null) {
      locks.listenSoon();
    } else { // The sweep retries; waiters still have invalidations and the fallback poll.
      log.debug("no connection for subscriptions to {}: {}", master, failure);
    }
    cluster.topologyDoubtful();
  }

  /** The subscription to the channel of one lock, and where the server has it. */
  private final class Subscription implements Source {
    private final String lockKey;
    private final String channel;
    private final int slot;

    // Guarded by this.

    /** The connection on which the client subscribed; null if it must subscribe again. */
    private @Nullable StatefulRedisPubSubConnection<String, String> asked;

    /** The connection on which the server confirmed it. */
    private @Nullable StatefulRedisPubSubConnection<String, String> confirmed;

    private boolean everConfirmed;

    private Subscription(String lockKey, int slot) {
      this.lockKey = lockKey;
      this.channel = lockKey + EncodedRequest.FREED;
      this.slot = slot;
    }

    @Override
    public void listen() {
      subscribe(false);
    }

    /** The server does nothing for a channel that it has, unless it lost it unnoticed. */
    @Override
    public void refresh() {
      subscribe(true);
    }

    private void subscribe(boolean anew) {
      MasterLink link = cluster.linkOf(slot);
      if (link == null) {
        return; // The next change of the topology, or the sweep, retries.
      }
      StatefulRedisPubSubConnection<String, String> on = connection(link.address());
      synchronized (this) {
        if (on == null || (on == asked && !anew)) {
          return;
        }
        asked = on;
      }
      try {
        CompletionStage<Void> reply =
            sharded ? on.async().ssubscribe(channel) : on.async().subscribe(channel);
        reply.whenComplete((done, failure) -> subscribed(link, on, failure));
      } catch (RuntimeException e) {
        subscribed(link, on, e);
      }
    }

    private void subscribed(
        MasterLink link,
        StatefulRedisPubSubConnection<String, String> on,
        @Nullable Throwable failure) {
      if (failure != null) {
        log.debug("subscribing at {} failed: {}", link.address(), Errors.message(failure));
        lost(on);
      } else if (!confirm(on, link.notifiesWaiters())) {
        cluster.mayBeFree(lockKey);
      }
    }

    /**
     * The server has it.
     *
     * @param tracked whether the invalidations of the master cover the time since the refusal
     * @return whether no hint was missed since the refusal, or since the loss of the last
     *     subscription
     */
    private synchronized boolean confirm(
        StatefulRedisPubSubConnection<String, String> on, boolean tracked) {
      if (on != asked) {
        return true; // The newer subscription will tell.
      }
      boolean covered = confirmed == on || (!everConfirmed && tracked);
      confirmed = on;
      everConfirmed = true;
      return covered;
    }

    /** The server does not have it: its slot has another master, or the server refuses it. */
    private void lost(StatefulRedisPubSubConnection<String, String> on) {
      synchronized (this) {
        if (on != asked) {
          return;
        }
        asked = null;
        confirmed = null;
      }
      locks.listenSoon();
      cluster.topologyDoubtful();
    }

    @Override
    public synchronized void end() {
      if (asked == null) {
        return;
      }
      try {
        var unused =
            sharded ? asked.async().sunsubscribe(channel) : asked.async().unsubscribe(channel);
      } catch (RuntimeException e) {
        // The connection is gone, and the subscription with it.
        log.debug("unsubscribing failed: {}", Errors.message(e));
      }
    }
  }
}
