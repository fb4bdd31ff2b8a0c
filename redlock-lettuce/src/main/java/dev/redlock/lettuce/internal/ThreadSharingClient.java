package dev.redlock.lettuce.internal;

import dev.redlock.lettuce.LettuceOptions;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.event.DefaultEventPublisherOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A Lettuce client on threads that others share. It sees each of its channels. So its close ends
 * the channels that are still connecting, too.
 *
 * <p>Lettuce closes the channels that have connected, releases the event loops, and relies on them
 * to close the others. But an event loop of Netty 4.2 may end without that. In each turn it looks
 * twice for a shutdown: after the first look it closes its channels, after the second it ends. If
 * the shutdown comes between the two, and the quiet period is zero, the loop ends at once, and a
 * socket that was connecting stays open until the process ends. A quiet period would help, but it
 * delays the reset of each connection by 100 ms.
 *
 * <p>An attempt to connect that has no channel yet would open its socket on a loop that has ended,
 * and the socket would stay open. So the close waits for the attempts that have begun.
 */
public final class ThreadSharingClient {
  /** The user's resolver of addresses may hang, and no close of a channel ends it. */
  private static final long ATTEMPTS_MILLIS = 1_000;

  private final Timer timer;
  private final LettuceOptions options;
  private final ClientOptions base;
  private final BlockingCalls calls;
  private final RedisClient client;

  /** All channels that are open. Closes each channel that is added after its own close. */
  private final ChannelGroup channels =
      new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE, true);

  /** Of the newest channel. Written on the channel's thread, read by the timer. */
  private volatile @Nullable EventExecutorGroup loops;

  /** Done when the client is closed and no attempt to connect is under way. */
  private final CompletableFuture<Void> quiet = new CompletableFuture<>();

  // Guarded by this.
  private int attempts;
  private boolean closed;

  /** A client on these threads. Its close does not end them. */
  public ThreadSharingClient(SharedResources resources, LettuceOptions options) {
    this(resources, options, channel -> {});
  }

  /**
   * @param onChannel is called on the thread of each new channel, before it connects
   */
  ThreadSharingClient(
      SharedResources resources, LettuceOptions options, Consumer<Channel> onChannel) {
    this.options = options;
    base = ClientSetup.base(options);
    calls = new BlockingCalls(resources.blocking());
    ClientResources shared = resources.acquire();
    timer = shared.timer();
    client = new LeanClient(derive(shared, onChannel));
  }

  /** How to connect: with this client, to this URI. */
  @FunctionalInterface
  public interface Connect<C> {
    CompletionStage<C> apply(RedisClient client, RedisURI uri);
  }

  /** Begins to connect, with the timeout of the options. */
  public <C> CompletionStage<C> connect(RedisURI uri, Connect<C> how) {
    return connect(uri, options.connectTimeout(), how);
  }

  /**
   * Begins to connect. What may block runs on threads of its own, so this method returns at once,
   * and never throws: a stage of a client that is closed has failed.
   *
   * @param uri without the credentials of the options
   * @param patience how long connect, TLS handshake and login may take, each
   */
  <C> CompletionStage<C> connect(RedisURI uri, Duration patience, Connect<C> how) {
    return calls.call(
        "a supplier (credentials, trust and keys, address) for " + uri.getHost(),
        () -> {
          SslOptions ssl = ClientSetup.prepare(uri, options, patience, calls);
          synchronized (this) {
            if (closed) {
              throw new IllegalStateException("the client is closed");
            }
            attempts++;
          }
          CompletionStage<C> attempt;
          try {
            SocketOptions socket =
                base.getSocketOptions().mutate().connectTimeout(patience).build();
            client.setOptions(base.mutate().sslOptions(ssl).socketOptions(socket).build());
            attempt = how.apply(client, uri);
          } catch (RuntimeException | Error e) {
            onAttemptEnded();
            throw e;
          }
          return attempt.whenComplete((made, failure) -> onAttemptEnded());
        });
  }

  /** Which calls have not returned, as the end of a sentence; empty if there are none. */
  String pending() {
    return calls.pending();
  }

  private void onAttemptEnded() {
    boolean last;
    synchronized (this) {
      attempts--;
      last = closed && attempts == 0;
    }
    if (last) {
      quiet.complete(null);
    }
  }

  /** Closes the client and its channels. Attempts under way fail. The stage never fails. */
  public CompletionStage<Void> close() {
    boolean none;
    synchronized (this) {
      closed = true;
      none = attempts == 0;
    }
    calls.close(); // Attempts that wait for a lookup fail now.
    if (none) {
      quiet.complete(null);
    } else {
      Timeout limit =
          timer.newTimeout(t -> quiet.complete(null), ATTEMPTS_MILLIS, TimeUnit.MILLISECONDS);
      var unused = quiet.thenRun(limit::cancel);
    }
    return client
        .shutdownAsync(0, 1, TimeUnit.SECONDS)
        .handle((done, failure) -> quiet)
        .thenCompose(ended -> ended)
        .thenRun(
            () -> {
              var unused = client.getResources().shutdown(0, 0, TimeUnit.SECONDS);
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
        .addressResolverGroup(new OffLoopResolvers(shared.addressResolverGroup(), calls))
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
                done ->
                    quiet.thenRun(
                        () ->
                            shared
                                .release(group, quietPeriod, timeout, unit)
                                .addListener(ended -> released.trySuccess(ended.isSuccess()))));
        return released;
      }

      @Override
      public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
        return shared.shutdown(quietPeriod, timeout, unit);
      }
    };
  }
}
