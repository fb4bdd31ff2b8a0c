package dev.redlock.lettuce;

import static java.util.Objects.requireNonNull;

import dev.redlock.lettuce.internal.CleanThreads;
import dev.redlock.lettuce.internal.ClientSetup;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.lettuce.internal.ThreadSharingClient;
import dev.redlock.spi.ReleaseHints;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Release hints by publish and subscribe, for servers, proxies and users without {@code CLIENT
 * TRACKING}. If tracking works, do not use this class: nodes then send invalidations without a
 * second connection, and also when a key expires. The nodes need RESP3 (Redis 6.0) in any case: a
 * server that rejects {@code HELLO 3} cannot be a node.
 *
 * <p>All clients of a lock need this class with the same channel. It opens two connections to each
 * given node and publishes the name of each released lock to all of them; one delivery is enough.
 * The user needs {@code +publish +subscribe} and {@code &channel}. The class publishes names, and
 * never lease ids.
 *
 * <pre>{@code
 * Redlock.builder().nodes(uris).hints(PubSubHints.on(List.of(uris))).build()
 * }</pre>
 */
public final class PubSubHints implements ReleaseHints {
  private static final Logger LOG = LoggerFactory.getLogger(PubSubHints.class);
  private static final String DEFAULT_CHANNEL = "redlock:released";
  private static final int MAX_UNANSWERED = 1_000;

  private final List<NodeUri> uris;
  private final String channel;
  private final LettuceOptions options;
  private final SharedResources threads;
  private final ThreadSharingClient client;

  /** Written when a connection is established, read for each hint. */
  private final List<StatefulRedisConnection<String, String>> publishers =
      new CopyOnWriteArrayList<>();

  /** By node, the last logged reason for missing hints. */
  private final Map<String, String> told = new ConcurrentHashMap<>();

  /** Whether it has logged that a node refuses to publish. */
  private final AtomicBoolean warned = new AtomicBoolean();

  /** Written once by {@link #start}. */
  private volatile @Nullable Receiver receiver;

  /** Written once by {@link #close}. */
  private volatile boolean closed;

  private PubSubHints(List<NodeUri> uris, String channel, LettuceOptions options) {
    this.uris = uris;
    this.channel = channel;
    this.options = options;
    threads = new SharedResources(options.clientResources());
    // Nothing is queued while there is no connection: a late hint has no use.
    ClientOptions base =
        ClientSetup.withoutReconnecting(options).requestQueueSize(MAX_UNANSWERED).build();
    client = CleanThreads.call(() -> new ThreadSharingClient(threads, options, base));
  }

  /**
   * Uses these nodes and the channel {@value #DEFAULT_CHANNEL}. Connects when the client starts.
   */
  public static PubSubHints on(List<String> uris) {
    return on(uris, DEFAULT_CHANNEL);
  }

  /** Uses these nodes and this channel. */
  public static PubSubHints on(List<String> uris, String channel) {
    return on(uris, channel, LettuceOptions.defaults());
  }

  /** Uses these nodes and the channel {@value #DEFAULT_CHANNEL}, with these options. */
  public static PubSubHints on(List<String> uris, LettuceOptions options) {
    return on(uris, DEFAULT_CHANNEL, options);
  }

  /**
   * Uses these nodes and this channel. Of the options it takes the threads, TLS, the credentials,
   * the connect timeout and the longest reconnect delay; give it those of the nodes.
   *
   * @throws IllegalArgumentException if there is no node or no channel, or a URI is invalid
   */
  public static PubSubHints on(List<String> uris, String channel, LettuceOptions options) {
    if (uris.isEmpty() || channel.isEmpty()) {
      throw new IllegalArgumentException(
          "hints need a node and a channel: " + uris.size() + " nodes, channel '" + channel + "'");
    }
    return new PubSubHints(
        uris.stream().map(NodeUri::parse).toList(), channel, requireNonNull(options, "options"));
  }

  @Override
  public void start(Receiver to) {
    receiver = to;
    CleanThreads.run(this::connect);
  }

  private void connect() {
    for (NodeUri uri : uris) {
      keep(
          uri,
          (lettuce, to) -> lettuce.connectPubSubAsync(StringCodec.UTF8, to),
          made -> subscribe(uri, made),
          failure -> tell(uri, failure));
      // Two connections: in RESP2 a connection that subscribes cannot publish.
      keep(
          uri,
          (lettuce, to) -> lettuce.connectAsync(StringCodec.UTF8, to),
          this::onPublisher,
          failure -> {}); // The log has it from the first connection.
    }
  }

  /** Connects, and again after each end of the connection and each failure. */
  private <C extends StatefulConnection<String, String>> void keep(
      NodeUri uri,
      ThreadSharingClient.Connect<C> connect,
      Consumer<C> use,
      Consumer<Throwable> onFailure) {
    if (closed) {
      return;
    }
    Runnable again =
        () -> {
          if (!closed) {
            later(() -> keep(uri, connect, use, onFailure));
          }
        };
    client
        .connect(uri.toRedisUri(), options.connectTimeout(), connect)
        .whenComplete(
            (made, failure) -> {
              if (failure == null) {
                onEnd(made, again);
                use.accept(made);
                if (closed) { // The client was closed before this connection existed.
                  made.closeAsync();
                }
              } else if (!closed) {
                onFailure.accept(failure);
                again.run();
              }
            });
  }

  private static void onEnd(StatefulConnection<String, String> made, Runnable task) {
    AtomicBoolean ended = new AtomicBoolean();
    made.addListener(
        new RedisConnectionStateListener() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
            if (ended.compareAndSet(false, true)) {
              task.run();
            }
          }
        });
    if (!made.isOpen() && ended.compareAndSet(false, true)) {
      task.run(); // It ended before it had a listener.
    }
  }

  private void later(Runnable task) {
    ScheduledFuture<?> unused =
        client
            .executor()
            .schedule(task, options.longestReconnectDelay().toMillis(), TimeUnit.MILLISECONDS);
  }

  private void onPublisher(StatefulRedisConnection<String, String> made) {
    publishers.removeIf(known -> !known.isOpen());
    publishers.add(made);
  }

  private void subscribe(NodeUri uri, StatefulRedisPubSubConnection<String, String> made) {
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
    subscribeOn(uri, made);
  }

  /** Tries until it succeeds, or until the connection ends. */
  private void subscribeOn(NodeUri uri, StatefulRedisPubSubConnection<String, String> made) {
    made.async()
        .subscribe(channel)
        .whenComplete(
            (nothing, failure) -> {
              if (failure == null || closed || !made.isOpen()) {
                return;
              }
              tell(uri, failure); // For example, the user lacks +subscribe or the channel.
              later(() -> subscribeOn(uri, made));
            });
  }

  /** Logs each new reason, because the first is often only that there is no connection. */
  private void tell(NodeUri uri, Throwable failure) {
    String reason = String.valueOf(failure.getMessage());
    if (!reason.equals(told.put(uri.name(), reason))) {
      LOG.warn("node {}: no release hints yet: {}", uri.name(), reason);
    }
  }

  private static void hint(Receiver to, String name) {
    try {
      to.mayBeFree(name);
    } catch (IllegalArgumentException e) {
      // Any user of the channel can publish any text.
      LOG.debug("a release hint contains no valid lock name", e);
    }
  }

  @Override
  public void ended(Ended ended) {
    if (ended.reason() == Reason.HANDED_OFF) {
      return;
    }
    try { // Netty would leave objects in the thread locals of the current thread.
      client.executor().execute(() -> ended.names().forEach(this::publish));
    } catch (RejectedExecutionException e) {
      LOG.debug("the client is closed: no release hint", e);
    }
  }

  private void publish(String name) {
    for (StatefulRedisConnection<String, String> connection : publishers) {
      try {
        CommandArgs<String, String> args =
            new CommandArgs<>(StringCodec.UTF8).addKey(channel).addValue(name);
        AsyncCommand<String, String, Long> publish =
            new AsyncCommand<>(
                new Command<>(CommandType.PUBLISH, new IntegerOutput<>(StringCodec.UTF8), args));
        var unused = connection.dispatch(publish);
        publish.whenComplete(this::onPublished);
      } catch (RuntimeException e) {
        LOG.debug("publishing a release hint failed", e);
      }
    }
  }

  /** Lettuce logs a broken connection, but no refusal such as NOPERM. */
  private void onPublished(@Nullable Long receivers, @Nullable Throwable failure) {
    if (failure instanceof RedisCommandExecutionException && warned.compareAndSet(false, true)) {
      LOG.warn("a node refuses release hints (logged once): {}", failure.getMessage());
    }
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    publishers.clear();
    threads.release(CleanThreads.call(client::close));
  }

  @Override
  public boolean isEnded() {
    return closed && threads.areQuiet();
  }
}
