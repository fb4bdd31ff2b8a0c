package dev.redlock.lettuce.internal;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.spi.Time;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.event.DefaultEventPublisherOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Makes connections to one server, one at a time, and never by itself: Lettuce's own reconnecting
 * would let commands run before the server has been looked at, and would send again what may have
 * been executed.
 */
final class Connector {
  private static final int FLUSH_AFTER = 256;

  private final RedisURI uri;
  private final ClientResources resources;
  private final RedisClient client;

  /** Written on the channel's thread as it is set up, read when the handshake is through. */
  private volatile @Nullable PipeHandler newest;

  Connector(NodeUri nodeUri, LettuceOptions options, ClientResources shared, Time time) {
    uri = ClientSetup.dressed(nodeUri.toRedisUri(), options, options.connectTimeout());
    resources = derive(shared, customizer(shared.nettyCustomizer(), time));
    client = RedisClient.create(resources, uri);
    client.setOptions(ClientSetup.withoutReconnecting(options));
  }

  /** A connection and the head of its channel's pipeline. */
  record Made(StatefulRedisConnection<byte[], byte[]> connection, PipeHandler channel) {}

  /** Connects and logs in. The stage is completed on an I/O thread. */
  CompletionStage<Made> connect() {
    newest = null;
    CompletionStage<StatefulRedisConnection<byte[], byte[]>> connecting;
    try {
      connecting = client.connectAsync(ByteArrayCodec.INSTANCE, uri);
    } catch (RuntimeException e) {
      return CompletableFuture.failedStage(e);
    }
    return connecting.thenApply(
        connection -> {
          PipeHandler channel = newest;
          if (channel == null) {
            var unused = connection.closeAsync();
            throw new IllegalStateException("the ClientResources ignore their NettyCustomizer");
          }
          return new Made(connection, channel);
        });
  }

  /** Ends what the client holds; the threads are others'. Never fails. */
  CompletionStage<Void> close() {
    return client
        .shutdownAsync(0, 0, TimeUnit.SECONDS)
        .handle(
            (done, failure) -> {
              var unused = resources.shutdown(0, 0, TimeUnit.SECONDS);
              return null;
            });
  }

  /**
   * The same threads with a customizer of our own. Not by {@code mutate()}: what it makes shuts
   * down the timer and executor of the original when it is shut down itself.
   */
  private static ClientResources derive(ClientResources shared, NettyCustomizer customizer) {
    return ClientResources.builder()
        .eventLoopGroupProvider(shared.eventLoopGroupProvider())
        .eventExecutorGroup(shared.eventExecutorGroup())
        .timer(shared.timer())
        .eventBus(shared.eventBus())
        .commandLatencyRecorder(shared.commandLatencyRecorder())
        .commandLatencyPublisherOptions(DefaultEventPublisherOptions.disabled())
        .tracing(shared.tracing())
        .addressResolverGroup(shared.addressResolverGroup())
        .socketAddressResolver(shared.socketAddressResolver())
        .nettyCustomizer(customizer)
        .build();
  }

  private NettyCustomizer customizer(NettyCustomizer theirs, Time time) {
    return new NettyCustomizer() {
      @Override
      public void afterBootstrapInitialized(Bootstrap bootstrap) {
        theirs.afterBootstrapInitialized(bootstrap);
      }

      @Override
      public void afterChannelInitialized(Channel channel) {
        theirs.afterChannelInitialized(channel);
        PipeHandler handler = new PipeHandler(channel, time);
        channel.pipeline().addFirst(handler);
        // Many callers, one system call. It must come before everything else to see their flushes.
        channel.pipeline().addFirst(new FlushConsolidationHandler(FLUSH_AFTER, true));
        newest = handler;
      }
    };
  }
}
