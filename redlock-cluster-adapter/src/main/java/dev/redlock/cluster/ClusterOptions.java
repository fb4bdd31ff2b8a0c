package dev.redlock.cluster;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.text.Printable;
import dev.redlock.lettuce.LettuceOptions;
import java.time.Duration;
import java.util.Optional;

/**
 * The options of a {@link ClusterLockNode}. Immutable. Every option has a default that suits a
 * lock.
 */
public final class ClusterOptions {
  private static final ClusterOptions DEFAULTS = builder().build();

  private final LettuceOptions lettuce;
  private final ClusterReleaseHints releaseHints;
  private final Duration refreshPeriod;
  private final Optional<Boolean> quarantinePromoted;
  private final String name;

  private ClusterOptions(Builder builder) {
    lettuce = builder.lettuce;
    releaseHints = builder.releaseHints;
    refreshPeriod = builder.refreshPeriod;
    quarantinePromoted = builder.quarantinePromoted;
    name = builder.name;
  }

  /** Returns the default options. */
  public static ClusterOptions defaults() {
    return DEFAULTS;
  }

  /** Returns a builder that holds the default options. */
  public static Builder builder() {
    return new Builder();
  }

  /** The options of the connections to the masters. */
  public LettuceOptions lettuce() {
    return lettuce;
  }

  /** Which carrier of release hints this client uses. */
  public ClusterReleaseHints releaseHints() {
    return releaseHints;
  }

  /** The interval at which the client asks for the topology if it sees no sign of a change. */
  public Duration refreshPeriod() {
    return refreshPeriod;
  }

  /**
   * Whether a promoted master is quarantined for the longest lease time; empty if the mode decides.
   */
  public Optional<Boolean> quarantinePromoted() {
    return quarantinePromoted;
  }

  /** The name of the cluster in reports; empty if the first address is the name. */
  public String name() {
    return name;
  }

  /** Builds {@link ClusterOptions}. Not safe for concurrent use. */
  public static final class Builder {
    private LettuceOptions lettuce = LettuceOptions.defaults();
    private ClusterReleaseHints releaseHints = ClusterReleaseHints.SHARDED_PUBSUB;
    private Duration refreshPeriod = Duration.ofSeconds(3);
    private Optional<Boolean> quarantinePromoted = Optional.empty();
    private String name = "";

    private Builder() {}

    /** Sets the options of the connections to the masters: threads, TLS, credentials, timeouts. */
    public Builder lettuce(LettuceOptions options) {
      this.lettuce = requireNonNull(options, "lettuce");
      return this;
    }

    /**
     * Sets the carrier of release hints. Default: {@link ClusterReleaseHints#SHARDED_PUBSUB}. All
     * clients of one cluster must use the same carrier.
     */
    public Builder releaseHints(ClusterReleaseHints releaseHints) {
      this.releaseHints = requireNonNull(releaseHints, "releaseHints");
      return this;
    }

    /**
     * Sets the interval at which the client asks for the topology. Default 3 s. After a redirection
     * or a broken connection the client asks at once; this interval covers all other changes.
     */
    public Builder refreshPeriod(Duration period) {
      this.refreshPeriod = positive(period, "refreshPeriod");
      return this;
    }

    /**
     * Whether to quarantine each master whose promotion this client saw: the master grants nothing
     * for {@code maxLeaseTime} + 2 s, so that no other client is granted a lock whose lease the
     * failover lost. A client that starts after the failover does not know of it.
     *
     * <p>Default: true for {@link ClusterNodes}, where the other masters continue to grant; false
     * for {@link ClusterLockNode}, where a failover would stop new leases in its slots for that
     * time.
     */
    public Builder quarantinePromoted(boolean quarantine) {
      this.quarantinePromoted = Optional.of(quarantine);
      return this;
    }

    /**
     * Sets the name of the cluster in reports and logs. If several clusters are the nodes of one
     * lock, all clients must use the same name for each cluster. Default: the first of its
     * addresses in sorted order.
     */
    public Builder name(String name) {
      this.name = requireNonNull(name, "name");
      return this;
    }

    /** Returns the options. */
    public ClusterOptions build() {
      return new ClusterOptions(this);
    }

    private static Duration positive(Duration value, String what) {
      if (value.isZero() || value.isNegative()) {
        throw new IllegalArgumentException(what + " must be positive, was " + Printable.of(value));
      }
      return value;
    }
  }
}
