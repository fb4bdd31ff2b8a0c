package dev.redlock.lettuce;

import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.spi.ReleaseHints;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ConnectionFuture;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Release hints by publish and subscribe, for servers, proxies and users that cannot have {@code
 * CLIENT TRACKING}. Where it is to be had this is of no use: nodes then push by themselves, without
 * a second connection and also when a key expires. The nodes' own connections need RESP3 all the
 * same (Redis 6.0): what refuses {@code HELLO 3} cannot be a node.
 *
 * <p>Each client of the lock needs it, with the same channel. It opens two connections to each node
 * that is given, and publishes the name of each lock that is freed to all of them; one that is
 * enough to wake somebody is enough. The user needs {@code +publish +subscribe} and {@code
 * &channel}. A name is no secret; lease ids are never published.
 *
 * <pre>{@code
 * Redlock.builder().nodes(uris).hints(PubSubHints.on(List.of(uris))).build()
 * }</pre>
 */
public final class PubSubHints implements ReleaseHints {
  private static final Logger LOG = LoggerFactory.getLogger(PubSubHints.class);
  private static final String DEFAULT_CHANNEL = "redlock:released";
  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final int MOST_UNANSWERED = 1_000;

  private final List<NodeUri> uris;
  private final String channel;
  private final RedisClient client = RedisClient.create();

  /** Added to by connecting, read by every publication; few. */
  private final List<StatefulRedisConnection<String, String>> publishers =
      new CopyOnWriteArrayList<>();

  /** Written once by {@link #start}. */
  private volatile @Nullable Receiver receiver;

  /** Written once by {@link #close}. */
  private volatile boolean closed;

  private PubSubHints(List<NodeUri> uris, String channel) {
    this.uris = uris;
    this.channel = channel;
    // Unlike a lock's own connection this one may reconnect and repeat itself: it only hints. But
    // what nobody can hear now is of no use later, and must not pile up until then.
    client.setOptions(
        ClientOptions.builder()
            .autoReconnect(true)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .requestQueueSize(MOST_UNANSWERED)
            .build());
  }

  /**
   * On these nodes, over the channel {@value #DEFAULT_CHANNEL}. Connects when the client starts.
   */
  public static PubSubHints on(List<String> uris) {
    return on(uris, DEFAULT_CHANNEL);
  }

  /** On these nodes, over a channel of your own. */
  public static PubSubHints on(List<String> uris, String channel) {
    if (uris.isEmpty() || channel.isEmpty()) {
      throw new IllegalArgumentException(
          "hints need a node and a channel: " + uris.size() + " nodes, channel '" + channel + "'");
    }
    return new PubSubHints(uris.stream().map(NodeUri::parse).toList(), channel);
  }

  @Override
  public void start(Receiver to) {
    receiver = to;
    for (NodeUri uri : uris) {
      keep(
          uri,
          true,
          () -> client.connectPubSubAsync(StringCodec.UTF8, uri.toRedisUri()),
          this::subscribe);
      // Two connections: with RESP2 one that subscribes may do nothing else.
      keep(
          uri,
          false,
          () -> client.connectAsync(StringCodec.UTF8, uri.toRedisUri()),
          publishers::add);
    }
  }

  /** Connects, again and again until it succeeds; from then on Lettuce reconnects by itself. */
  private <C extends StatefulConnection<String, String>> void keep(
      NodeUri uri, boolean tell, Supplier<ConnectionFuture<C>> connect, Consumer<C> use) {
    if (closed) {
      return;
    }
    connect
        .get()
        .whenComplete(
            (made, failure) -> {
              if (failure == null) {
                use.accept(made);
                if (closed) { // Too late to be closed with the client.
                  made.closeAsync();
                }
                return;
              }
              if (tell) {
                LOG.warn("no release hints from {} yet: {}", uri.name(), failure.getMessage());
              }
              later(() -> keep(uri, false, connect, use));
            });
  }

  private void later(Runnable task) {
    ScheduledFuture<?> unused =
        client
            .getResources()
            .eventExecutorGroup()
            .schedule(task, RETRY.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void subscribe(StatefulRedisPubSubConnection<String, String> made) {
    made.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String from, String name) {
            Receiver to = receiver;
            if (to != null && from.equals(channel)) {
              hint(to, name);
            }
          }
        });
    subscribeOn(made);
  }

  /** Once it has succeeded Lettuce repeats it by itself, and not before. */
  private void subscribeOn(StatefulRedisPubSubConnection<String, String> made) {
    made.async()
        .subscribe(channel)
        .whenComplete(
            (nothing, failure) -> {
              if (failure != null && !closed) {
                later(() -> subscribeOn(made));
              }
            });
  }

  private static void hint(Receiver to, String name) {
    try {
      to.mayBeFree(name);
    } catch (IllegalArgumentException e) {
      LOG.debug("a hint names no lock", e); // Anybody can publish anything.
    }
  }

  @Override
  public void ended(Ended ended) {
    if (ended.reason() == Reason.HANDED_OFF) {
      return;
    }
    for (StatefulRedisConnection<String, String> connection : publishers) {
      for (String name : ended.names()) {
        try {
          connection.async().publish(channel, name);
        } catch (RuntimeException e) {
          LOG.debug("a hint is lost", e);
        }
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    publishers.clear();
    client.shutdownAsync(0, 1, TimeUnit.SECONDS);
  }
}
