package dev.redlock.lettuce.internal;

import dev.redlock.internal.text.Printable;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.redis.internal.ColdStart;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.Time;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Makes connections to one server, one at a time and only when called. Lettuce's own reconnect
 * would run commands before the server is probed and would send again what may have been executed.
 */
final class Connector {
  private static final int FLUSH_AFTER = 256;

  private static final String NEEDS_RESP3 =
      ": a node must accept HELLO 3 (RESP3), as Redis 6.0 or newer and Valkey do";

  /** Redis accepts these characters of ASCII only, and refuses the handshake otherwise. */
  private static final Pattern NOT_IN_CLIENT_NAMES = Pattern.compile("[^!-~]");

  /** Name resolution, connect, TLS and login: each may take the connect timeout. */
  private static final int CONNECT_STEPS = 4;

  private final NodeUri nodeUri;
  private final LettuceOptions options;
  private final Time time;
  private final ThreadSharingClient client;

  /** The label of the client, as the server shows it in CLIENT LIST; null if there is none. */
  private final @Nullable String clientName;

  /** Written on the channel's thread when it is set up, read after the handshake. */
  private volatile @Nullable ChannelActivity newest;

  /**
   * @param label names the connections, unless the URI does
   */
  Connector(
      NodeUri nodeUri, LettuceOptions options, SharedResources resources, Time time, String label) {
    this.nodeUri = nodeUri;
    this.options = options;
    this.time = time;
    client = new ThreadSharingClient(resources, options, this::prepare);
    clientName =
        label.isEmpty() || nodeUri.toRedisUri().getClientName() != null
            ? null
            : NOT_IN_CLIENT_NAMES.matcher(label).replaceAll("_");
  }

  /**
   * A connection and the head of its channel's pipeline.
   *
   * @param patience how long its probe may take
   */
  record Made(
      StatefulRedisConnection<byte[], byte[]> connection,
      ChannelActivity channel,
      Duration patience) {}

  /**
   * Connects and logs in. The stage completes in bounded time: connect and handshake have timeouts
   * in Lettuce, and name resolution, which has none, is bounded here.
   */
  CompletionStage<Made> connect() {
    CompletableFuture<Made> result = new CompletableFuture<>();
    Duration usual = options.connectTimeout();
    Duration step = ColdStart.OF_JVM.patience(usual);
    Duration patience = usual.multipliedBy(CONNECT_STEPS - 1).plus(step);
    Time.Cancellable deadline =
        time.schedule(
            () ->
                result.completeExceptionally(
                    new IOException(
                        "no connection within " + Printable.of(patience) + client.pending())),
            patience.toNanos());
    dial(step)
        .whenComplete(
            (made, failure) -> {
              deadline.cancel();
              if (failure != null) {
                result.completeExceptionally(failure);
              } else if (!result.complete(made)) {
                var unused = made.connection().closeAsync();
              }
            });
    return result;
  }

  /** Why {@link #connect} failed. */
  NodeError error(Throwable failure) {
    NodeError.Kind kind = Errors.kind(failure);
    String message = Errors.message(failure);
    if (Errors.isHandshakeDefect(failure)) {
      return new NodeError(kind, "the reply to HELLO 3 was not understood" + NEEDS_RESP3);
    } else if (refusesHello(kind, message)) {
      return new NodeError(kind, message + NEEDS_RESP3);
    } else if (nodeUri.encrypted()
        && kind == NodeError.Kind.DISCONNECTED
        && !message.startsWith(Errors.TLS)) {
      message += " (" + Errors.TLS + " was tried)"; // A plain port does not reply at all.
    }
    return new NodeError(kind, message);
  }

  private static boolean refusesHello(NodeError.Kind kind, String message) {
    return message.startsWith("NOPROTO")
        || (message.toLowerCase(Locale.ROOT).contains("hello")
            && kind != NodeError.Kind.NOT_AUTHENTICATED);
  }

  private CompletionStage<Made> dial(Duration patience) {
    newest = null;
    RedisURI uri = nodeUri.toRedisUri();
    if (clientName != null) {
      uri.setClientName(clientName);
    }
    return client
        .connect(uri, patience, (lettuce, to) -> lettuce.connectAsync(ByteArrayCodec.INSTANCE, to))
        .thenApply(
            connection -> {
              ChannelActivity channel = newest;
              if (channel == null) {
                var unused = connection.closeAsync();
                throw new IllegalStateException(
                    "the given ClientResources ignore the NettyCustomizer");
              }
              return new Made(connection, channel, patience);
            });
  }

  /** Closes the Lettuce client, but not the threads of others. Never fails. */
  CompletionStage<Void> close() {
    return client.close();
  }

  private void prepare(Channel channel) {
    ChannelActivity handler = new ChannelActivity(channel, time);
    channel.pipeline().addFirst(handler);
    // One system call for many callers. It must be first in the pipeline to see all flushes.
    channel.pipeline().addFirst(new FlushConsolidationHandler(FLUSH_AFTER, true));
    newest = handler;
  }
}
