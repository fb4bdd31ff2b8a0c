package dev.redlock.lettuce;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Where the nodes get user and password from; see {@link LettuceOptions.Builder#credentials}. The
 * methods are called by several nodes, each time on a thread of its own, and may block.
 */
@FunctionalInterface
public interface CredentialsSource {
  /**
   * Returns the credentials of now. Called before each connection. If it throws, or the stage fails
   * or completes with null, the connect fails, and the client tries again; {@link
   * dev.redlock.operations.Operations#nodes()} says why. If it takes longer than four times the
   * connect timeout, it costs an attempt to connect.
   */
  CompletionStage<Credentials> credentials();

  /**
   * Returns a publisher of all later credentials, or null, the default, if the client is to ask at
   * the next connection. Called before each connection, which subscribes when it is open, and
   * cancels when it ends. The client sends each value on the open connection at once ({@code
   * AUTH}). The publisher must repeat its newest value to a new subscriber. It must not fail,
   * because the connection would get no further value.
   */
  default Flow.@Nullable Publisher<Credentials> updates() {
    return null;
  }
}
