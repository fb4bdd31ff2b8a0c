package dev.redlock.lettuce;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.text.Printable;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How a node connects to its server. Immutable; each option has a default that suits locks. */
public final class LettuceOptions {
  private static final LettuceOptions DEFAULTS = builder().build();

  private final @Nullable ClientResources clientResources;
  private final @Nullable Supplier<SslOptions> sslOptions;
  private final @Nullable CredentialsSource credentials;
  private final Duration connectTimeout;
  private final @Nullable Duration maxConnectionAge;
  private final int maxUnanswered;

  private LettuceOptions(Builder builder) {
    clientResources = builder.clientResources;
    sslOptions = builder.sslOptions;
    credentials = builder.credentials;
    connectTimeout = builder.connectTimeout;
    maxConnectionAge = builder.maxConnectionAge;
    maxUnanswered = builder.maxUnanswered;
  }

  /** All defaults. */
  public static LettuceOptions defaults() {
    return DEFAULTS;
  }

  /** A builder with all defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** The user's threads; null for threads of the library. */
  public @Nullable ClientResources clientResources() {
    return clientResources;
  }

  /**
   * Trust and keys for {@code rediss://}, as the supplier gives them now; null for those of the
   * platform.
   */
  public @Nullable SslOptions sslOptions() {
    return sslOptions == null ? null : requireNonNull(sslOptions.get(), "sslOptions");
  }

  /** User and password; null for those of the URI. */
  public @Nullable CredentialsSource credentials() {
    return credentials;
  }

  /** How long connect, handshake and probe may take, each. */
  public Duration connectTimeout() {
    return connectTimeout;
  }

  /** The age before which the client replaces a connection; null if it replaces none. */
  public @Nullable Duration maxConnectionAge() {
    return maxConnectionAge;
  }

  /** How many requests to one node may be without a reply; further requests fail. */
  public int maxUnanswered() {
    return maxUnanswered;
  }

  /** Collects options. Not safe for concurrent use. */
  public static final class Builder {
    private @Nullable ClientResources clientResources;
    private @Nullable Supplier<SslOptions> sslOptions;
    private @Nullable CredentialsSource credentials;
    private Duration connectTimeout = Duration.ofMillis(500);
    private @Nullable Duration maxConnectionAge;
    private int maxUnanswered = 10_000;

    private Builder() {}

    /**
     * Uses these threads, timers, metrics, tracing and resolvers instead of those of the library.
     * The nodes do not close them. A resolver may block: the nodes call it on threads of their own.
     */
    public Builder clientResources(ClientResources resources) {
      this.clientResources = requireNonNull(resources, "clientResources");
      return this;
    }

    /**
     * Trust and keys for {@code rediss://}. Default: those of the platform, with host verification.
     *
     * <p>The client reads the files that these options name at each new connection, so a
     * certificate in a file may be replaced. Managers and key stores that are already loaded do not
     * change; see {@link #sslOptions(Supplier)}.
     */
    public Builder sslOptions(SslOptions options) {
      requireNonNull(options, "sslOptions");
      return sslOptions(() -> options);
    }

    /**
     * Asks this supplier for trust and keys at each new connection, so that both may change. A
     * connection that is open keeps those with which it was made; {@link #maxConnectionAge} limits
     * for how long. If the supplier fails, the connect fails, and the client tries again.
     *
     * @param supplier called by several nodes, each time on a thread of its own; may block. A call
     *     that does not return within four times the connect timeout costs an attempt to connect
     */
    public Builder sslOptions(Supplier<SslOptions> supplier) {
      this.sslOptions = requireNonNull(supplier, "sslOptions");
      return this;
    }

    /**
     * Asks this source for user and password at each new connection, so that both may change.
     * Default: those of the URI.
     *
     * <p>Some servers close a connection whose credentials have expired. If the source has {@link
     * CredentialsSource#updates()}, the client sends each new value on the open connections at once
     * ({@code AUTH}), so the server does not close them. Otherwise set {@link #maxConnectionAge}.
     *
     * @param source called on a thread of its own each time; may block, as the supplier of {@link
     *     #sslOptions(Supplier)} may
     */
    public Builder credentials(CredentialsSource source) {
      this.credentials = requireNonNull(source, "credentials");
      return this;
    }

    /**
     * How long connect, handshake and probe may take, each. Default 500 ms. Each may take ten times
     * as long, up to 5 s, while this JVM has not connected to any server: a JVM that starts loads
     * the classes for it.
     */
    public Builder connectTimeout(Duration timeout) {
      if (timeout.isZero() || timeout.isNegative()) {
        throw new IllegalArgumentException(
            "connectTimeout must be positive, was " + Printable.of(timeout));
      }
      this.connectTimeout = timeout;
      return this;
    }

    /**
     * Replaces each connection before it is older than this, with new credentials. The time is
     * random for each connection, between half of this age and all of it, so that the client does
     * not replace all its connections together. During a replacement the node is CONNECTING for
     * some ten milliseconds. If the user may not run {@code INFO}, the node is quarantined
     * afterwards. Default: the client replaces no connection because of its age.
     *
     * <p>If the credentials have no {@link CredentialsSource#updates()}, set this a little below
     * the age at which the server closes connections.
     *
     * @throws IllegalArgumentException if it is shorter than 1 s
     */
    public Builder maxConnectionAge(Duration age) {
      if (age.compareTo(Duration.ofSeconds(1)) < 0) {
        throw new IllegalArgumentException(
            "maxConnectionAge must be at least 1 s, was " + Printable.of(age));
      }
      this.maxConnectionAge = age;
      return this;
    }

    /**
     * How many requests to one node may be without a reply; further requests fail as OVERLOADED.
     * This limits the memory that a hung node costs. Default 10,000.
     */
    public Builder maxUnanswered(int requests) {
      if (requests < 1) {
        throw new IllegalArgumentException("maxUnanswered must be at least 1, was " + requests);
      }
      this.maxUnanswered = requests;
      return this;
    }

    /** Builds the options. */
    public LettuceOptions build() {
      return new LettuceOptions(this);
    }
  }
}
