package dev.redlock.cluster.internal;

import dev.redlock.lettuce.LettuceOptions;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Makes the connections beside the probed ones. They do not reconnect by themselves: whoever uses
 * one has to know that it is a new one.
 */
final class SideClient {
  private final RedisClient client;
  private final LettuceOptions options;

  SideClient(ClientResources resources, LettuceOptions options) {
    this.options = options;
    client = RedisClient.create(resources);
    ClientOptions.Builder builder =
        ClientOptions.builder()
            .autoReconnect(false)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .protocolVersion(ProtocolVersion.RESP3)
            .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
            .socketOptions(
                SocketOptions.builder().connectTimeout(options.connectTimeout()).build());
    if (options.sslOptions() != null) {
      builder.sslOptions(options.sslOptions());
    }
    client.setOptions(builder.build());
  }

  RedisClient client() {
    return client;
  }

  /** The URI with the credentials and the patience of the options. */
  RedisURI dress(RedisURI uri) {
    uri.setTimeout(options.connectTimeout());
    if (options.credentials() != null) {
      uri.setCredentialsProvider(options.credentials());
    }
    return uri;
  }

  CompletionStage<Void> close() {
    return client.shutdownAsync(0, 1, TimeUnit.SECONDS).exceptionally(failure -> null);
  }
}
