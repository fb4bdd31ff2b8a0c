package dev.redlock.lettuce.internal;

import io.lettuce.core.RedisAsyncCommandsImpl;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisReactiveCommandsImpl;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.PushHandler;
import io.lettuce.core.pubsub.PubSubEndpoint;
import io.lettuce.core.pubsub.RedisPubSubReactiveCommandsImpl;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnectionImpl;
import io.lettuce.core.pubsub.api.sync.RedisPubSubCommands;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A client whose connections only dispatch commands that the caller has made; those for
 * subscriptions have asynchronous commands, too. Lettuce makes synchronous, asynchronous and
 * reactive ones with each connection: the first proxy of several hundred methods takes 100 ms,
 * which is longer than all else from the start of a JVM to its first connection.
 */
final class LeanClient extends RedisClient {
  LeanClient(ClientResources resources) {
    super(resources, new RedisURI());
  }

  @Override
  protected <K, V> StatefulRedisConnectionImpl<K, V> newStatefulRedisConnection(
      RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
    return new StatefulRedisConnectionImpl<>(writer, pushes, codec, timeout) {
      @Override
      protected @Nullable RedisAsyncCommandsImpl<K, V> newRedisAsyncCommandsImpl() {
        return null;
      }

      @Override
      protected @Nullable RedisCommands<K, V> newRedisSyncCommandsImpl() {
        return null;
      }

      @Override
      protected @Nullable RedisReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
        return null;
      }
    };
  }

  @Override
  protected <K, V> StatefulRedisPubSubConnectionImpl<K, V> newStatefulRedisPubSubConnection(
      PubSubEndpoint<K, V> endpoint,
      RedisChannelWriter writer,
      RedisCodec<K, V> codec,
      Duration timeout) {
    return new StatefulRedisPubSubConnectionImpl<>(endpoint, writer, codec, timeout) {
      @Override
      protected @Nullable RedisPubSubCommands<K, V> newRedisSyncCommandsImpl() {
        return null;
      }

      @Override
      protected @Nullable RedisPubSubReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
        return null;
      }
    };
  }
}
