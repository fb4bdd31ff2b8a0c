package dev.redlock;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a lock is taken and kept. Immutable, validated once when made; the message of a refusal holds
 * the offending numbers.
 */
public final class LockOptions {
  private final Duration leaseTime;
  private final Duration drift;
  private final Duration nodeTimeout;
  private final boolean autoExtend;
  private final Duration holdCap;
  private final Duration minimumHold;
  private final int queueBound;
  private final int maxHandOffs;
  private final boolean fair;
  private final Duration lineTimeout;
  private final Duration pollInterval;
  private final boolean interruptOnLoss;

  private LockOptions(Builder b) {
    leaseTime = b.leaseTime;
    Duration d = b.drift;
    drift = d != null ? d : b.leaseTime.dividedBy(100).plusMillis(2);
    nodeTimeout = b.nodeTimeout;
    autoExtend = b.autoExtend;
    holdCap = b.holdCap;
    minimumHold = b.minimumHold;
    queueBound = b.queueBound;
    maxHandOffs = b.maxHandOffs;
    fair = b.fair;
    lineTimeout = b.lineTimeout;
    pollInterval = b.pollInterval;
    interruptOnLoss = b.interruptOnLoss;
    validate();
  }

  private void validate() {
    require(
        between(leaseTime, Duration.ofMillis(10), Duration.ofHours(1)),
        "leaseTime " + leaseTime + " must lie between 10 ms and 1 h");
    require(!drift.isNegative(), "drift " + drift + " must not be negative");
    require(
        drift.compareTo(leaseTime) < 0,
        "drift " + drift + " must be shorter than leaseTime " + leaseTime);
    require(
        between(nodeTimeout, Duration.ofMillis(1), Duration.ofSeconds(1)),
        "nodeTimeout " + nodeTimeout + " must lie between 1 ms and 1 s");
    require(
        nodeTimeout.compareTo(leaseTime.minus(drift)) < 0,
        "nodeTimeout "
            + nodeTimeout
            + " must be shorter than leaseTime "
            + leaseTime
            + " less drift "
            + drift);
    require(
        holdCap.compareTo(leaseTime) >= 0,
        "holdCap " + holdCap + " must not be shorter than leaseTime " + leaseTime);
    require(
        !minimumHold.isNegative() && minimumHold.compareTo(leaseTime) <= 0,
        "minimumHold " + minimumHold + " must lie between 0 and leaseTime " + leaseTime);
    require(queueBound >= 1, "queueBound " + queueBound + " must be at least 1");
    require(maxHandOffs >= 0, "maxHandOffs " + maxHandOffs + " must not be negative");
    require(
        between(lineTimeout, Duration.ofMillis(100), Duration.ofMinutes(1)),
        "lineTimeout " + lineTimeout + " must lie between 100 ms and 1 min");
    require(
        between(pollInterval, Duration.ofMillis(10), Duration.ofMinutes(1)),
        "pollInterval " + pollInterval + " must lie between 10 ms and 1 min");
  }

  private static boolean between(Duration d, Duration least, Duration most) {
    return d.compareTo(least) >= 0 && d.compareTo(most) <= 0;
  }

  private static void require(boolean holds, String message) {
    if (!holds) {
      throw new IllegalArgumentException(message);
    }
  }

  /** The defaults. */
  public static LockOptions defaults() {
    return new Builder().build();
  }

  /** Begins with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Begins with these options. */
  public Builder toBuilder() {
    Builder b = new Builder();
    b.leaseTime = leaseTime;
    b.drift = drift;
    b.nodeTimeout = nodeTimeout;
    b.autoExtend = autoExtend;
    b.holdCap = holdCap;
    b.minimumHold = minimumHold;
    b.queueBound = queueBound;
    b.maxHandOffs = maxHandOffs;
    b.fair = fair;
    b.lineTimeout = lineTimeout;
    b.pollInterval = pollInterval;
    b.interruptOnLoss = interruptOnLoss;
    return b;
  }

  /** How long nodes keep the lock unless extended. */
  public Duration leaseTime() {
    return leaseTime;
  }

  /** Allowance for clock-rate error, taken off the validity. */
  public Duration drift() {
    return drift;
  }

  /** How old an answer may be and still count. */
  public Duration nodeTimeout() {
    return nodeTimeout;
  }

  /** Whether the lease is extended until it is released. */
  public boolean autoExtend() {
    return autoExtend;
  }

  /** The longest total hold. */
  public Duration holdCap() {
    return holdCap;
  }

  /** The lock stays taken at least that long, even when released sooner. */
  public Duration minimumHold() {
    return minimumHold;
  }

  /** How many may wait in this process for one set of names. */
  public int queueBound() {
    return queueBound;
  }

  /** How often in a row the lock passes within this process before it is freed. */
  public int maxHandOffs() {
    return maxHandOffs;
  }

  /** Whether processes are served in the order in which they came. */
  public boolean fair() {
    return fair;
  }

  /** Fair mode: how long a process that stopped refreshing keeps its place. */
  public Duration lineTimeout() {
    return lineTimeout;
  }

  /** How long a waiter sleeps at most without any hint, before jitter. */
  public Duration pollInterval() {
    return pollInterval;
  }

  /** Whether {@code withLock} interrupts the thread that runs the body when the lease is lost. */
  public boolean interruptOnLoss() {
    return interruptOnLoss;
  }

  @Override
  public String toString() {
    return "LockOptions[leaseTime="
        + leaseTime
        + ", drift="
        + drift
        + ", nodeTimeout="
        + nodeTimeout
        + ", autoExtend="
        + autoExtend
        + ", holdCap="
        + holdCap
        + ", minimumHold="
        + minimumHold
        + ", queueBound="
        + queueBound
        + ", maxHandOffs="
        + maxHandOffs
        + ", fair="
        + fair
        + ", lineTimeout="
        + lineTimeout
        + ", pollInterval="
        + pollInterval
        + ", interruptOnLoss="
        + interruptOnLoss
        + "]";
  }

  /** Collects options; every setter returns this builder. Not safe for concurrent use. */
  public static final class Builder {
    private Duration leaseTime = Duration.ofSeconds(30);
    private @Nullable Duration drift;
    private Duration nodeTimeout = Duration.ofMillis(100);
    private boolean autoExtend = true;
    private Duration holdCap = Duration.ofHours(1);
    private Duration minimumHold = Duration.ZERO;
    private int queueBound = 1000;
    private int maxHandOffs = 16;
    private boolean fair;
    private Duration lineTimeout = Duration.ofSeconds(5);
    private Duration pollInterval = Duration.ofSeconds(1);
    private boolean interruptOnLoss;

    private Builder() {}

    /**
     * 10 ms to 1 h, and no longer than the client's {@code maxLeaseTime}. Default 30 s: long enough
     * for two failed extensions, short enough to wait for when a holder dies.
     */
    public Builder leaseTime(Duration leaseTime) {
      this.leaseTime = requireNonNull(leaseTime, "leaseTime");
      return this;
    }

    /**
     * Default {@code leaseTime / 100 + 2 ms}, as the Redis specification's reference clients have
     * it: clocks' rates may differ by one percent.
     */
    public Builder drift(Duration drift) {
      this.drift = requireNonNull(drift, "drift");
      return this;
    }

    /**
     * How long a vote counts. 1 ms to 1 s; default 100 ms: far above a round trip, far below the
     * lease time. So long the lock may be handed on without asking again ({@link #maxHandOffs}),
     * and when rounds come to take half of it this client has fewer of them under way at once.
     */
    public Builder nodeTimeout(Duration nodeTimeout) {
      this.nodeTimeout = requireNonNull(nodeTimeout, "nodeTimeout");
      return this;
    }

    /** Default true: every third of the lease time, so that two may fail. */
    public Builder autoExtend(boolean autoExtend) {
      this.autoExtend = autoExtend;
      return this;
    }

    /** Default 1 h: a hung worker must not hold for ever. Ends as {@link LeaseEnd#CAP_REACHED}. */
    public Builder holdCap(Duration holdCap) {
      this.holdCap = requireNonNull(holdCap, "holdCap");
      return this;
    }

    /**
     * "At least for": default zero. A job that finishes sooner than clocks differ between hosts
     * would otherwise run twice.
     */
    public Builder minimumHold(Duration minimumHold) {
      this.minimumHold = requireNonNull(minimumHold, "minimumHold");
      return this;
    }

    /**
     * Default 1000: beyond it, {@link LockQueueFullException} tells the caller to come back later.
     */
    public Builder queueBound(int queueBound) {
      this.queueBound = queueBound;
      return this;
    }

    /**
     * How often in a row the lock goes to the next waiter of the same process; then it is freed,
     * and this process stays back if others want it. Default 16; 0 never hands off. More is faster,
     * and harder on other processes.
     *
     * <p>The next waiter goes on with the grant that the nodes store, without asking them, if the
     * votes that granted it are no older than the node timeout, the options are equal, leases are
     * extended by themselves and the lock is not fair; otherwise a round gives it a grant of its
     * own. Either way it has a token of its own.
     */
    public Builder maxHandOffs(int maxHandOffs) {
      this.maxHandOffs = maxHandOffs;
      return this;
    }

    /**
     * Default false: order between processes costs throughput. All clients of a name must agree.
     */
    public Builder fair(boolean fair) {
      this.fair = fair;
      return this;
    }

    /** 100 ms to 1 min; default 5 s. */
    public Builder lineTimeout(Duration lineTimeout) {
      this.lineTimeout = requireNonNull(lineTimeout, "lineTimeout");
      return this;
    }

    /**
     * 10 ms to 1 min; default 1 s, taken with ± 50 % jitter and at most a third of the lease time.
     */
    public Builder pollInterval(Duration pollInterval) {
      this.pollInterval = requireNonNull(pollInterval, "pollInterval");
      return this;
    }

    /** Default false: interrupting a body that does not expect it can do harm. */
    public Builder interruptOnLoss(boolean interruptOnLoss) {
      this.interruptOnLoss = interruptOnLoss;
      return this;
    }

    /**
     * Validates and makes the options.
     *
     * @throws IllegalArgumentException naming the values that do not fit
     */
    public LockOptions build() {
      return new LockOptions(this);
    }
  }
}
