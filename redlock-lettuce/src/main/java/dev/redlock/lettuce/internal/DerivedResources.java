package dev.redlock.lettuce.internal;

import io.lettuce.core.RedisClient;
import io.lettuce.core.event.DefaultEventPublisherOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The resources of one Lettuce client, on threads that others share. They see each channel of the
 * client. So its close ends the channels that are still connecting, too.
 *
 * <p>Lettuce closes the channels that have connected, releases the event loops, and relies on them
 * to close the others. But an event loop of Netty 4.2 may end without that. In each turn it looks
 * twice for a shutdown: after the first look it closes its channels, after the second it ends. If
 * the shutdown comes between the two, and the quiet period is zero, the loop ends at once, and a
 * socket that was connecting stays open until the process ends. A quiet period would help, but it
 * delays the reset of each connection by 100 ms.
 */
public final class DerivedResources {
  /** All channels that are open. Closes each channel that is added after its own close. */
  private final ChannelGroup channels =
      new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE, true);

  /** Of the newest channel. Written on the channel's thread, read by the timer. */
  private volatile @Nullable EventExecutorGroup loops;

  private DerivedResources() {}

  /** Derives resources for one client. Their shutdown does not end the shared threads. */
  public static ClientResources of(ClientResources shared) {
    return of(shared, channel -> {});
  }

  /**
   * Derives resources for one client.
   *
   * @param onChannel is called on the thread of each new channel, before it connects
   */
  static ClientResources of(ClientResources shared, Consumer<Channel> onChannel) {
    return new DerivedResources().derive(shared, onChannel);
  }

  /** Closes a client that has derived resources, and then these. Never fails. */
  public static CompletionStage<Void> close(RedisClient client) {
    return client
        .shutdownAsync(0, 1, TimeUnit.SECONDS)
        .handle(
            (done, failure) -> {
              var unused = client.getResources().shutdown(0, 0, TimeUnit.SECONDS);
              return null;
            });
  }

  /**
   * {@code mutate()} does not serve: the shutdown of its result also shuts down the timer and the
   * executor of the original.
   */
  private ClientResources derive(ClientResources shared, Consumer<Channel> onChannel) {
    return ClientResources.builder()
        .eventLoopGroupProvider(closingChannels(shared.eventLoopGroupProvider()))
        .eventExecutorGroup(shared.eventExecutorGroup())
        .timer(new HandshakeTimer(shared.timer(), () -> loops))
        .eventBus(shared.eventBus())
        .commandLatencyRecorder(shared.commandLatencyRecorder())
        .commandLatencyPublisherOptions(DefaultEventPublisherOptions.disabled())
        .tracing(shared.tracing())
        .addressResolverGroup(shared.addressResolverGroup())
        .socketAddressResolver(shared.socketAddressResolver())
        .nettyCustomizer(seeingChannels(shared.nettyCustomizer(), onChannel))
        .build();
  }

  private NettyCustomizer seeingChannels(NettyCustomizer users, Consumer<Channel> onChannel) {
    return new NettyCustomizer() {
      @Override
      public void afterBootstrapInitialized(Bootstrap bootstrap) {
        users.afterBootstrapInitialized(bootstrap);
      }

      @Override
      public void afterChannelInitialized(Channel channel) {
        users.afterChannelInitialized(channel);
        loops = channel.eventLoop().parent();
        onChannel.accept(channel);
        channels.add(channel);
      }
    };
  }

  private EventLoopGroupProvider closingChannels(EventLoopGroupProvider shared) {
    return new EventLoopGroupProvider() {
      @Override
      public <T extends EventLoopGroup> T allocate(Class<T> type) {
        return shared.allocate(type);
      }

      @Override
      public int threadPoolSize() {
        return shared.threadPoolSize();
      }

      @Override
      public Future<Boolean> release(
          EventExecutorGroup group, long quietPeriod, long timeout, TimeUnit unit) {
        Promise<Boolean> released = ImmediateEventExecutor.INSTANCE.newPromise();
        channels
            .close()
            .addListener(
                closed ->
                    shared
                        .release(group, quietPeriod, timeout, unit)
                        .addListener(ended -> released.trySuccess(ended.isSuccess())));
        return released;
      }

      @Override
      public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
        return shared.shutdown(quietPeriod, timeout, unit);
      }
    };
  }
}
