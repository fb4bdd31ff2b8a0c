package dev.redlock.cluster.internal;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.ClientSetup;
import dev.redlock.lettuce.internal.ThreadSharingClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.util.concurrent.CompletionStage;

/**
 * Makes the connections beside the probed ones. They do not reconnect by themselves, because the
 * user of a connection must know when it is a new one.
 */
final class SideClient {
  private final ThreadSharingClient client;
  private final LettuceOptions options;

  SideClient(ClientResources resources, LettuceOptions options) {
    this.options = options;
    client = new ThreadSharingClient(resources);
    client.setOptions(ClientSetup.withoutReconnecting(options));
  }

  ThreadSharingClient client() {
    return client;
  }

  /** The URI with the credentials and the timeouts of the options. */
  RedisURI dress(RedisURI uri) {
    return ClientSetup.configured(uri, options, options.connectTimeout());
  }

  CompletionStage<Void> close() {
    return client.close();
  }
}
