package dev.redlock.cluster.internal;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.ClientSetup;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Makes the connections beside the probed ones. They do not reconnect by themselves, because the
 * user of a connection must know when it is a new one.
 */
final class SideClient {
  private final RedisClient client;
  private final LettuceOptions options;

  SideClient(ClientResources resources, LettuceOptions options) {
    this.options = options;
    client = RedisClient.create(resources);
    client.setOptions(ClientSetup.withoutReconnecting(options));
  }

  RedisClient client() {
    return client;
  }

  /** The URI with the credentials and the timeouts of the options. */
  RedisURI dress(RedisURI uri) {
    return ClientSetup.configured(uri, options, options.connectTimeout());
  }

  CompletionStage<Void> close() {
    return client.shutdownAsync(0, 1, TimeUnit.SECONDS).exceptionally(failure -> null);
  }
}
