package dev.redlock.cluster.internal;

import dev.redlock.internal.scripts.WireRequest;
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
 * Notices by publish and subscribe, sharded or classic: a channel for each lock that somebody here
 * was refused, on a connection of its own to the master of its slot.
 *
 * <p>Lettuce forgets shard subscriptions when a slot gets another master, so whoever serves it is
 * asked again by us: after every change of masters, when the server says that it unsubscribed us,
 * and every few seconds in any case. One slot per command: a command over several is refused.
 */
final class PubSubNotices implements Notices {
  private static final Logger log = LoggerFactory.getLogger(PubSubNotices.class);
  private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Whoever waited is likely to wait again: subscriptions outlive their use by that much. */
  private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Medium medium;
  private final boolean sharded;

  /** Written under this, read without it by whoever asks whether there is something to do. */
  private final Map<String, Subscription> subscriptions = new ConcurrentHashMap<>();

  // Guarded by this.
  private final Map<Address, Side> sides = new HashMap<>();
  private Time.@Nullable Cancellable sweep;
  private boolean soon;
  private boolean closed;

  PubSubNotices(Medium medium, boolean sharded) {
    this.medium = medium;
    this.sharded = sharded;
  }

  /** One channel. Guarded by the notices, but for what is volatile. */
  private static final class Subscription {
    private final String lockKey;
    private final int slot;

    /** Where the server was asked for it, and where it has said yes. */
    private @Nullable Side asked;

    private @Nullable Side confirmed;
    private boolean everConfirmed;

    /** Written by whoever watches and forgets, read by the sweep; 0 while it is waited for. */
    private volatile long idleSinceNanos;

    /** Our own newest release of this lock, which is no news; written by its senders. */
    private volatile String ownToken = "";

    private Subscription(String lockKey, int slot) {
      this.lockKey = lockKey;
      this.slot = slot;
    }

    private String channel() {
      return lockKey + WireRequest.FREED;
    }
  }

  /** A connection for subscriptions to one master, perhaps still being made. */
  private static final class Side {
    private final Address address;
    private @Nullable StatefulRedisPubSubConnection<String, String> connection;
    private boolean gone;

    private Side(Address address) {
      this.address = address;
    }
  }

  @Override
  public String command() {
    return sharded ? "SPUBLISH" : "PUBLISH";
  }

  @Override
  public void watch(String lockKey, int slot, long nodeMicros) {
    Subscription known = subscriptions.get(lockKey);
    if (known != null) {
      known.idleSinceNanos = 0;
      return;
    }
    synchronized (this) {
      if (closed || subscriptions.containsKey(lockKey)) {
        return;
      }
      Subscription made = new Subscription(lockKey, slot);
      subscriptions.put(lockKey, made);
      subscribe(slot, List.of(made));
      if (sweep == null) {
        sweep = medium.time().schedule(this::sweep, SWEEP_NANOS);
      }
    }
  }

  @Override
  public void forget(String lockKey) {
    Subscription known = subscriptions.get(lockKey);
    if (known != null) {
      long now = medium.time().nanos();
      known.idleSinceNanos = now == 0 ? 1 : now;
    }
  }

  @Override
  public void revive(String lockKey) {
    Subscription known = subscriptions.get(lockKey);
    if (known != null) {
      known.idleSinceNanos = 0;
    }
  }

  @Override
  public void releasing(String lockKey, long token) {
    Subscription known = subscriptions.get(lockKey);
    if (known != null) {
      known.ownToken = Long.toString(token);
    }
  }

  @Override
  public void onTopology() {
    synchronized (this) {
      for (Side side : new ArrayList<>(sides.values())) {
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
      sides.values().forEach(side -> side.gone = true); // Their client ends them with itself.
      sides.clear();
      subscriptions.clear();
    }
  }

  private @Nullable Address home(Subscription s) {
    MasterLink link = medium.linkOf(s.slot);
    return link == null ? null : link.address();
  }

  // Subscribing. All of it under this.

  private void sweep() {
    synchronized (this) {
      long now = medium.time().nanos();
      for (Subscription s : new ArrayList<>(subscriptions.values())) {
        long idleSince = s.idleSinceNanos;
        if (idleSince != 0 && now - idleSince > LINGER_NANOS) {
          subscriptions.remove(s.lockKey);
          unsubscribe(s);
        }
      }
      resubscribe(true);
      sweep =
          subscriptions.isEmpty() || closed
              ? null
              : medium.time().schedule(this::sweep, SWEEP_NANOS);
    }
  }

  /**
   * Subscribes to what is not subscribed where its slot is now.
   *
   * @param all also to what should be: the server does nothing then, unless it was lost unnoticed
   */
  private void resubscribe(boolean all) {
    Map<Integer, List<Subscription>> bySlot = new TreeMap<>();
    for (Subscription s : subscriptions.values()) {
      Side asked = s.asked;
      boolean there = asked != null && !asked.gone && asked.address.equals(home(s));
      if (all || !there) {
        bySlot.computeIfAbsent(s.slot, slot -> new ArrayList<>()).add(s);
      }
    }
    bySlot.forEach(this::subscribe);
  }

  private void subscribe(int slot, List<Subscription> of) {
    Address address = home(of.get(0));
    if (address == null || closed) {
      return; // The next change of masters, or the sweep, tries again.
    }
    Side side = sides.get(address);
    if (side == null) {
      connect(address); // When it is there, all that belong to it are subscribed.
      return;
    }
    StatefulRedisPubSubConnection<String, String> connection = side.connection;
    if (connection == null) {
      return;
    }
    String[] channels = of.stream().map(Subscription::channel).toArray(String[]::new);
    for (Subscription s : of) {
      s.asked = side;
    }
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

  private void subscribed(Side side, List<Subscription> of, @Nullable Throwable failure) {
    List<String> missed = new ArrayList<>();
    synchronized (this) {
      for (Subscription s : of) {
        if (s.asked != side) {
          continue;
        }
        if (failure != null) {
          s.asked = null;
          s.confirmed = null;
          continue;
        }
        MasterLink link = medium.linkOf(s.slot);
        // What was told between the refusal, or the loss of the last subscription, and now is
        // missed. The first time the pushes of the master cover that.
        boolean covered = !s.everConfirmed && link != null && link.tracks();
        if (s.confirmed != side && !covered) {
          missed.add(s.lockKey);
        }
        s.confirmed = side;
        s.everConfirmed = true;
      }
      if (failure != null) {
        log.debug("subscribing at {}: {}", side.address, Failures.message(failure));
        trySoon();
      }
    }
    if (failure != null) {
      medium.topologyDoubtful();
    }
    missed.forEach(medium::mayBeFree);
  }

  private void unsubscribe(Subscription s) {
    Side side = s.asked;
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
      log.debug(
          "unsubscribing: {}", Failures.message(e)); // The connection is gone, and so is this.
    }
  }

  private void trySoon() {
    if (!soon && !closed) {
      soon = true;
      medium
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
    Side side = new Side(address);
    sides.put(address, side);
    try {
      medium
          .sideClient()
          .connectPubSubAsync(StringCodec.UTF8, medium.uriOf(address))
          .whenComplete((made, failure) -> connected(side, made, failure));
    } catch (RuntimeException e) {
      connected(side, null, e);
    }
  }

  private void connected(
      Side side,
      @Nullable StatefulRedisPubSubConnection<String, String> made,
      @Nullable Throwable failure) {
    if (made == null) {
      log.debug("no subscriptions at {}: {}", side.address, failure);
      synchronized (this) {
        drop(side); // The sweep tries again; whoever waits still has pushes and the poll.
      }
      medium.topologyDoubtful();
      return;
    }
    made.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String token) {
            heard(channel, token);
          }

          @Override
          public void smessage(String channel, String token) {
            heard(channel, token);
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

  private void heard(String channel, String token) {
    if (!channel.endsWith(WireRequest.FREED)) {
      return;
    }
    String lockKey = channel.substring(0, channel.length() - WireRequest.FREED.length());
    Subscription s = subscriptions.get(lockKey);
    // Also if nobody waits: a waiter who has just asked may not have heard that it was refused.
    if (s != null && !token.equals(s.ownToken)) {
      medium.mayBeFree(lockKey);
    }
  }

  /** The server ended a subscription: its slot has another master, or we asked for it. */
  private void lost(Side side, String channel) {
    synchronized (this) {
      for (Subscription s : subscriptions.values()) {
        if (s.asked == side && s.channel().equals(channel)) {
          s.asked = null;
          s.confirmed = null;
          trySoon();
          medium.topologyDoubtful();
        }
      }
    }
  }

  private void broken(Side side) {
    synchronized (this) {
      if (side.gone) {
        return;
      }
      drop(side);
      trySoon();
    }
    medium.topologyDoubtful();
  }

  private void drop(Side side) {
    side.gone = true;
    sides.remove(side.address, side);
    StatefulRedisPubSubConnection<String, String> connection = side.connection;
    if (connection != null) {
      var unused = connection.closeAsync();
    }
  }
}
