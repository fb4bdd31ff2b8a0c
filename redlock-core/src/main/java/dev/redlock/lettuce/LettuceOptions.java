package dev.redlock.lettuce;

import static java.util.Objects.requireNonNull;

import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How nodes are connected to. Immutable; what is not set has a default that suits a lock. */
public final class LettuceOptions {
  private static final LettuceOptions DEFAULTS = builder().build();

  private final @Nullable ClientResources clientResources;
  private final @Nullable SslOptions sslOptions;
  private final @Nullable RedisCredentialsProvider credentials;
  private final Duration connectTimeout;
  private final Duration shortestReconnectDelay;
  private final Duration longestReconnectDelay;
  private final int maxUnanswered;

  private LettuceOptions(Builder builder) {
    clientResources = builder.clientResources;
    sslOptions = builder.sslOptions;
    credentials = builder.credentials;
    connectTimeout = builder.connectTimeout;
    shortestReconnectDelay = builder.shortestReconnectDelay;
    longestReconnectDelay = builder.longestReconnectDelay;
    maxUnanswered = builder.maxUnanswered;
  }

  /** All defaults. */
  public static LettuceOptions defaults() {
    return DEFAULTS;
  }

  /** Begins with all defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** The user's threads, or null for threads of the library's own. */
  public @Nullable ClientResources clientResources() {
    return clientResources;
  }

  /** Trust and keys for {@code rediss://}, or null for the platform's. */
  public @Nullable SslOptions sslOptions() {
    return sslOptions;
  }

  /** Who to log in as, or null for what the URI says. */
  public @Nullable RedisCredentialsProvider credentials() {
    return credentials;
  }

  /** How long connecting may take, and the handshake, and the look at the server; each. */
  public Duration connectTimeout() {
    return connectTimeout;
  }

  /** The shortest pause before a new connection is made. */
  public Duration shortestReconnectDelay() {
    return shortestReconnectDelay;
  }

  /** The longest pause before a new connection is made. */
  public Duration longestReconnectDelay() {
    return longestReconnectDelay;
  }

  /** How many requests to one node may be unanswered before further ones are refused. */
  public int maxUnanswered() {
    return maxUnanswered;
  }

  /** Collects options. Not for use by several threads at once. */
  public static final class Builder {
    private @Nullable ClientResources clientResources;
    private @Nullable SslOptions sslOptions;
    private @Nullable RedisCredentialsProvider credentials;
    private Duration connectTimeout = Duration.ofMillis(500);
    private Duration shortestReconnectDelay = Duration.ofMillis(20);
    private Duration longestReconnectDelay = Duration.ofMillis(500);
    private int maxUnanswered = 10_000;

    private Builder() {}

    /**
     * Uses these threads, timers, metrics and tracing instead of the library's own. They are not
     * closed with the nodes.
     */
    public Builder clientResources(ClientResources resources) {
      this.clientResources = requireNonNull(resources, "clientResources");
      return this;
    }

    /** Trust and keys for {@code rediss://}. Default: the platform's, hosts verified. */
    public Builder sslOptions(SslOptions options) {
      this.sslOptions = requireNonNull(options, "sslOptions");
      return this;
    }

    /**
     * Asks this provider for user and password at every new connection, so that both may change.
     * Default: what the URI says.
     *
     * @param provider called on an I/O thread, must not block
     */
    public Builder credentials(RedisCredentialsProvider provider) {
      this.credentials = requireNonNull(provider, "credentials");
      return this;
    }

    /** How long connecting, the handshake, and probing may take, each. Default 500 ms. */
    public Builder connectTimeout(Duration timeout) {
      this.connectTimeout = positive(timeout, "connectTimeout");
      return this;
    }

    /**
     * Bounds of the pause before the next try to connect, which is random and grows with every
     * failure. Default 20 to 500 ms: the clients of a node that comes back must not come all at
     * once, and must not come much later than it either.
     */
    public Builder reconnectDelay(Duration shortest, Duration longest) {
      positive(shortest, "shortest reconnect delay");
      if (longest.compareTo(shortest) < 0) {
        throw new IllegalArgumentException(
            "longest reconnect delay " + longest + " is below the shortest " + shortest);
      }
      this.shortestReconnectDelay = shortest;
      this.longestReconnectDelay = longest;
      return this;
    }

    /**
     * How many requests to one node may be unanswered; further ones fail as OVERLOADED, so that a
     * node that hangs costs no more memory than these. Default 10,000.
     */
    public Builder maxUnanswered(int requests) {
      if (requests < 1) {
        throw new IllegalArgumentException("maxUnanswered must be at least 1, was " + requests);
      }
      this.maxUnanswered = requests;
      return this;
    }

    /** Makes the options. */
    public LettuceOptions build() {
      return new LettuceOptions(this);
    }

    private static Duration positive(Duration value, String what) {
      if (value.isZero() || value.isNegative()) {
        throw new IllegalArgumentException(what + " must be positive, was " + value);
      }
      return value;
    }
  }
}
