package dev.redlock.cluster;

import static java.util.Objects.requireNonNull;

import dev.redlock.lettuce.LettuceOptions;
import java.time.Duration;

/** How a cluster is used. Immutable; what is not set has a default that suits a lock. */
public final class ClusterOptions {
  private static final ClusterOptions DEFAULTS = builder().build();

  private final LettuceOptions lettuce;
  private final ReleaseNotices notices;
  private final Duration refreshPeriod;
  private final Duration redirectPatience;
  private final int replicas;
  private final Duration replicaPatience;
  private final boolean quarantinePromoted;
  private final String name;

  private ClusterOptions(Builder builder) {
    lettuce = builder.lettuce;
    notices = builder.notices;
    refreshPeriod = builder.refreshPeriod;
    redirectPatience = builder.redirectPatience;
    replicas = builder.replicas;
    replicaPatience = builder.replicaPatience;
    quarantinePromoted = builder.quarantinePromoted;
    name = builder.name;
  }

  /** All defaults. */
  public static ClusterOptions defaults() {
    return DEFAULTS;
  }

  /** Begins with all defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** How masters are connected to. */
  public LettuceOptions lettuce() {
    return lettuce;
  }

  /** How releases are told. */
  public ReleaseNotices notices() {
    return notices;
  }

  /** How often the cluster is asked who serves what, when nothing suggests that it has changed. */
  public Duration refreshPeriod() {
    return refreshPeriod;
  }

  /** For how long a request follows redirections, and waits for a slot that is being moved. */
  public Duration redirectPatience() {
    return redirectPatience;
  }

  /** How many replicas have to confirm a lease; 0 for none. */
  public int replicas() {
    return replicas;
  }

  /** How long their confirmation is waited for. */
  public Duration replicaPatience() {
    return replicaPatience;
  }

  /** Whether a master that was seen to be promoted stays out for the longest lease. */
  public boolean quarantinePromoted() {
    return quarantinePromoted;
  }

  /** How the cluster is called in reports; empty for its first address. */
  public String name() {
    return name;
  }

  /** Collects options. Not for use by several threads at once. */
  public static final class Builder {
    private LettuceOptions lettuce = LettuceOptions.defaults();
    private ReleaseNotices notices = ReleaseNotices.SHARDED_PUBSUB;
    private Duration refreshPeriod = Duration.ofSeconds(3);
    private Duration redirectPatience = Duration.ofMillis(80);
    private int replicas;
    private Duration replicaPatience = Duration.ofMillis(50);
    private boolean quarantinePromoted;
    private String name = "";

    private Builder() {}

    /** How masters are connected to: threads, TLS, credentials, time-outs. */
    public Builder lettuce(LettuceOptions options) {
      this.lettuce = requireNonNull(options, "lettuce");
      return this;
    }

    /** How releases are told; default {@link ReleaseNotices#SHARDED_PUBSUB}. */
    public Builder notices(ReleaseNotices notices) {
      this.notices = requireNonNull(notices, "notices");
      return this;
    }

    /**
     * How often the cluster is asked who serves what. Default 3 s: a redirection or a broken
     * connection asks at once, so this is only for what nobody stumbles over.
     */
    public Builder refreshPeriod(Duration period) {
      this.refreshPeriod = positive(period, "refreshPeriod");
      return this;
    }

    /**
     * For how long one request follows redirections ({@code MOVED}, {@code ASK}) and tries again
     * ({@code TRYAGAIN}, {@code CLUSTERDOWN}) before that becomes its answer. Default 80 ms, a
     * little less than the default node timeout: later than that the answer counts for nobody, and
     * the report could only say that there was none.
     */
    public Builder redirectPatience(Duration patience) {
      this.redirectPatience = positive(patience, "redirectPatience");
      return this;
    }

    /**
     * Has so many replicas confirm each lease, when it is granted and when it is extended ({@code
     * WAIT}); short of that the grant does not count, and the attempt is rolled back. That lowers
     * the odds that a failover loses a lease, and is no guarantee. Costs a second connection to
     * each master and a second round trip. Default: none.
     *
     * @param patience how long to wait for them; shorter than the node timeout of the locks, or
     *     refusals come as time-outs. 50 ms is a good beginning
     */
    public Builder confirmedBy(int replicas, Duration patience) {
      if (replicas < 0) {
        throw new IllegalArgumentException("replicas must not be negative, was " + replicas);
      }
      this.replicas = replicas;
      this.replicaPatience = positive(patience, "patience");
      return this;
    }

    /**
     * Keeps a master that this client saw being promoted from granting until the longest lease is
     * over, so that what the failover lost cannot be granted again. Default false: every failover
     * would stop new leases in its slots for {@code maxLeaseTime} + 2 s. A client that started
     * after the failover knows nothing of it.
     */
    public Builder quarantinePromoted(boolean quarantine) {
      this.quarantinePromoted = quarantine;
      return this;
    }

    /**
     * How the cluster is called in reports and logs. Where several clusters are the nodes of one
     * lock, all clients must call each of them the same. Default: the first of its addresses,
     * sorted.
     */
    public Builder name(String name) {
      this.name = requireNonNull(name, "name");
      return this;
    }

    /** Makes the options. */
    public ClusterOptions build() {
      return new ClusterOptions(this);
    }

    private static Duration positive(Duration value, String what) {
      if (value.isZero() || value.isNegative()) {
        throw new IllegalArgumentException(what + " must be positive, was " + value);
      }
      return value;
    }
  }
}
