package dev.redlock.cluster.internal;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.ClientSetup;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.lettuce.internal.ThreadSharingClient;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * Makes the connections beside the probed ones. They do not reconnect by themselves, because the
 * user of a connection must know when it is a new one.
 */
final class SideClient {
  private final ThreadSharingClient client;
  private final Duration patience;

  SideClient(SharedResources resources, LettuceOptions options) {
    client = new ThreadSharingClient(resources, options, ClientSetup.resp3(options));
    patience = options.connectTimeout();
  }

  /**
   * Connects, with the credentials and the timeouts of the options.
   *
   * @throws IllegalStateException if the client is closed
   */
  <C> CompletionStage<C> connect(RedisURI uri, ThreadSharingClient.Connect<C> how) {
    return client.connect(uri, patience, how);
  }

  CompletionStage<Void> close() {
    return client.close();
  }
}
