package dev.redlock;

import static java.time.temporal.ChronoUnit.MILLIS;
import static java.util.Collections.max;
import static java.util.Collections.min;
import static java.util.Objects.requireNonNull;

import dev.redlock.internal.text.Printable;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The options of the leases of a lock. Immutable; they are validated when they are built. */
public final class LockOptions {
  private static final Duration DEFAULT_LEASE_TIME = Duration.ofSeconds(30);
  private static final Duration MAX_DEFAULT_NODE_TIMEOUT = Duration.ofMillis(250);
  private static final Duration MIN_NODE_TIMEOUT = Duration.ofMillis(1);
  private static final Duration DEFAULT_HOLD_CAP = Duration.ofHours(1);

  /** About 73 years: sums of its nanoseconds do not overflow. */
  private static final Duration NO_HOLD_CAP = Duration.ofNanos(Long.MAX_VALUE / 4);

  /**
   * The given values, never changed. A value that was not given is null; its default depends on the
   * lease time.
   */
  private final Builder given;

  private final Duration leaseTime;
  private final Duration drift;
  private final Duration nodeTimeout;
  private final Duration holdCap;

  private LockOptions(Builder builder) {
    given = new Builder(builder);
    Duration wanted = given.leaseTime != null ? given.leaseTime : DEFAULT_LEASE_TIME;
    requireBetween("leaseTime", wanted, Duration.ofMillis(10), Duration.ofHours(1));
    leaseTime = wanted.truncatedTo(MILLIS); // As nodes keep it.
    drift = given.drift != null ? given.drift : leaseTime.dividedBy(100).plusMillis(2);
    nodeTimeout =
        given.nodeTimeout != null ? given.nodeTimeout : defaultNodeTimeout(leaseTime.minus(drift));
    Duration cap = given.holdCap != null ? given.holdCap : DEFAULT_HOLD_CAP;
    holdCap = cap.compareTo(NO_HOLD_CAP) < 0 ? cap : NO_HOLD_CAP;
    validate();
  }

  /**
   * Short enough that two extensions may fail before validity ends. At most two CFS periods of 100
   * ms and a margin: a client under a CPU limit is stopped until the next period begins. With 100
   * ms its replies would often be too old (see {@code docs/operations.md}). With more, a client
   * waits longer for a hung master whose vote may decide.
   */
  private static Duration defaultNodeTimeout(Duration leaseTimeLessDrift) {
    Duration quarter = leaseTimeLessDrift.dividedBy(4);
    return max(List.of(MIN_NODE_TIMEOUT, min(List.of(MAX_DEFAULT_NODE_TIMEOUT, quarter))));
  }

  private void validate() {
    require(!drift.isNegative(), "drift", drift, "must not be negative");
    require(drift.compareTo(leaseTime) < 0, "drift", drift, "must be shorter than leaseTime %s");
    requireBetween("nodeTimeout", nodeTimeout, Duration.ofMillis(1), Duration.ofSeconds(1));
    boolean inTime = nodeTimeout.compareTo(leaseTime.minus(drift)) < 0;
    require(inTime, "nodeTimeout", nodeTimeout, "must be shorter than leaseTime %s less drift %s");
    boolean covers = holdCap.compareTo(leaseTime) >= 0;
    require(covers, "holdCap", holdCap, "must not be shorter than leaseTime %s");
    Duration hold = given.minimumHold;
    require(!hold.isNegative(), "minimumHold", hold, "must not be negative");
    boolean within = hold.compareTo(given.leaseTime != null ? given.leaseTime : leaseTime) <= 0;
    require(within, "minimumHold", hold, "is longer than leaseTime %s: raise the lease time");
    require(given.queueBound >= 1, "queueBound", given.queueBound, "must be at least 1");
    require(given.maxHandOffs >= 0, "maxHandOffs", given.maxHandOffs, "must not be negative");
    Duration poll = given.pollInterval;
    requireBetween("pollInterval", poll, Duration.ofMillis(10), Duration.ofMinutes(1));
  }

  /** The rule may name the lease time, and after it the drift. */
  private void require(boolean holds, String option, Object value, String rule) {
    if (!holds) {
      String times = rule.formatted(Printable.of(leaseTime), Printable.of(drift));
      throw InvalidOptionException.of(option, value, times);
    }
  }

  private static void requireBetween(String name, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      String bounds = Printable.of(least) + " and " + Printable.of(most);
      throw InvalidOptionException.of(name, value, "must lie between " + bounds);
    }
  }

  /** The default options. */
  public static LockOptions defaults() {
    return new Builder().build();
  }

  /** A builder that begins with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that begins with these options. Defaults that depend on the lease time still do. */
  public Builder toBuilder() {
    return new Builder(given);
  }

  /** How long nodes keep the lock unless it is extended. */
  public Duration leaseTime() {
    return leaseTime;
  }

  /** Allowance for clocks that run at different rates; subtracted from the validity. */
  public Duration drift() {
    return drift;
  }

  /** The maximum age at which a vote counts. */
  public Duration nodeTimeout() {
    return nodeTimeout;
  }

  /** Whether leases are extended automatically until they are released. */
  public boolean autoExtend() {
    return given.autoExtend;
  }

  /** The longest time that one holder can keep a lease. Without a cap, about 73 years. */
  public Duration holdCap() {
    return holdCap;
  }

  /** These options without a hold cap, unless one was given; what an election uses. */
  public LockOptions withoutDefaultHoldCap() {
    return given.holdCap != null ? this : toBuilder().noHoldCap().build();
  }

  /** The shortest time for which the lock stays taken, even if it is released earlier. */
  public Duration minimumHold() {
    return given.minimumHold;
  }

  /** How many callers of one client may wait for one set of names. */
  public int queueBound() {
    return given.queueBound;
  }

  /**
   * How often in a row the client hands the lock off to its own callers before it frees the lock.
   */
  public int maxHandOffs() {
    return given.maxHandOffs;
  }

  /** Whether callers of all clients get the lock in the order in which they came. */
  public boolean fair() {
    return given.fair;
  }

  /** Whether an acquire asks a majority of the nodes first. */
  public boolean majorityFirst() {
    return given.majorityFirst;
  }

  /** After how long without a release hint a waiter asks again, before jitter. */
  public Duration pollInterval() {
    return given.pollInterval;
  }

  /** Whether {@code withLock} interrupts the thread that runs the body when the lease is lost. */
  public boolean interruptOnLoss() {
    return given.interruptOnLoss;
  }

  private List<Object> values() {
    return List.of(
        leaseTime,
        drift,
        nodeTimeout,
        given.autoExtend,
        holdCap,
        given.minimumHold,
        given.queueBound,
        given.maxHandOffs,
        given.fair,
        given.majorityFirst,
        given.pollInterval,
        given.interruptOnLoss);
  }

  /** Whether all values are equal, given or not. */
  @Override
  public boolean equals(@Nullable Object other) {
    return this == other || (other instanceof LockOptions that && values().equals(that.values()));
  }

  @Override
  public int hashCode() {
    return values().hashCode();
  }

  @Override
  public String toString() {
    // %s, because %d writes the digits of the default locale.
    return ("LockOptions[leaseTime=%s, drift=%s, nodeTimeout=%s, autoExtend=%s, holdCap=%s,"
            + " minimumHold=%s, queueBound=%s, maxHandOffs=%s, fair=%s,"
            + " majorityFirst=%s, pollInterval=%s, interruptOnLoss=%s]")
        .formatted(values().stream().map(LockOptions::shown).toArray());
  }

  private static Object shown(Object value) {
    return value.equals(NO_HOLD_CAP)
        ? "none"
        : value instanceof Duration time ? Printable.of(time) : value;
  }

  /** Collects options; every setter returns this builder. Not safe for concurrent use. */
  public static final class Builder {
    private @Nullable Duration leaseTime;
    private @Nullable Duration drift;
    private @Nullable Duration nodeTimeout;
    private boolean autoExtend = true;
    private @Nullable Duration holdCap;
    private Duration minimumHold = Duration.ZERO;
    private int queueBound = 1000;
    private int maxHandOffs = 16;
    private boolean fair;
    private boolean majorityFirst;
    private Duration pollInterval = Duration.ofSeconds(1);
    private boolean interruptOnLoss;

    private Builder() {}

    private Builder(Builder b) {
      leaseTime = b.leaseTime;
      drift = b.drift;
      nodeTimeout = b.nodeTimeout;
      autoExtend = b.autoExtend;
      holdCap = b.holdCap;
      minimumHold = b.minimumHold;
      queueBound = b.queueBound;
      maxHandOffs = b.maxHandOffs;
      fair = b.fair;
      majorityFirst = b.majorityFirst;
      pollInterval = b.pollInterval;
      interruptOnLoss = b.interruptOnLoss;
    }

    /**
     * How long nodes keep the lock unless it is extended, in whole milliseconds: 10 ms to 1 h, and
     * not longer than the client's {@code maxLeaseTime}. Default 30 s, or {@code maxLeaseTime} in
     * the default options of a client if that is shorter.
     */
    public Builder leaseTime(Duration leaseTime) {
      this.leaseTime = requireNonNull(leaseTime, "leaseTime");
      return this;
    }

    /**
     * Allowance for clocks that run at different rates, subtracted from the validity. Default
     * {@code leaseTime / 100 + 2 ms}, as in the reference clients of the Redis specification.
     */
    public Builder drift(Duration drift) {
      this.drift = requireNonNull(drift, "drift");
      return this;
    }

    /**
     * The maximum age at which a vote counts: 1 ms to 1 s, and shorter than lease time less drift.
     * Default 250 ms, or a quarter of lease time less drift if that is shorter. Also limits local
     * hand-off ({@link #maxHandOffs}). If rounds take longer than half of the node timeout, the
     * client lowers its limit of concurrent rounds. An extension waits for a tenth of the lease
     * time, at most 1 s, if that is longer.
     */
    public Builder nodeTimeout(Duration nodeTimeout) {
      this.nodeTimeout = requireNonNull(nodeTimeout, "nodeTimeout");
      return this;
    }

    /** Whether leases are extended at each third of the lease time at the latest. Default true. */
    public Builder autoExtend(boolean autoExtend) {
      this.autoExtend = autoExtend;
      return this;
    }

    /**
     * The longest time that one holder can keep a lease, at least the lease time. Default 1 h, so
     * that a hung worker does not keep the lock for ever; an election has no cap by default. The
     * lease then ends as {@link LeaseEnd#CAP_REACHED}.
     */
    public Builder holdCap(Duration holdCap) {
      this.holdCap = requireNonNull(holdCap, "holdCap");
      return this;
    }

    /** No hold cap: the client extends a lease for as long as its holder's process lives. */
    public Builder noHoldCap() {
      return holdCap(NO_HOLD_CAP);
    }

    /**
     * The shortest time for which the lock stays taken, even if the holder releases it earlier: 0
     * to the lease time. Default 0. Use it if a scheduled job may finish before the clock of
     * another host starts it, and would then run twice. A release returns at once, and the nodes
     * keep the lock for the rest, also if the client is closed or its process dies.
     */
    public Builder minimumHold(Duration minimumHold) {
      this.minimumHold = requireNonNull(minimumHold, "minimumHold");
      return this;
    }

    /**
     * How many callers of one client may wait for one set of names, at least 1. Default 1000;
     * further callers get a {@link LockQueueFullException}.
     */
    public Builder queueBound(int queueBound) {
      this.queueBound = queueBound;
      return this;
    }

    /**
     * How often in a row the client hands the lock off to its own next waiter. Then it frees the
     * lock, and other clients that want the lock come first. Default 16; 0 means never. A higher
     * value gives more throughput and longer waits for other clients.
     *
     * <p>A hand-off asks no node. It needs votes of the grant that are not older than the node
     * timeout, equal options of the two callers, and automatic extension; the lock must not be
     * fair. Otherwise the next waiter asks the nodes behind the release. The successor always has a
     * higher token.
     */
    public Builder maxHandOffs(int maxHandOffs) {
      this.maxHandOffs = maxHandOffs;
      return this;
    }

    /**
     * Whether callers of all clients get the lock in the order in which they came, at the cost of
     * throughput. Default false: then clients get the lock in the order in which they entered the
     * queue, and at its turn each client serves one caller and up to {@link #maxHandOffs} more. All
     * clients of a name should use the same value.
     */
    public Builder fair(boolean fair) {
      this.fair = fair;
      return this;
    }

    /**
     * Whether an acquire asks a majority of the nodes first, and the others only if one of those
     * refuses or is slower than usual. Default false: it asks all nodes at once, as the Redis
     * specification does. With five nodes, an acquire and its release then cost 6 commands instead
     * of 10, if no other client wants the lock.
     *
     * <p>A lease that is still held 20 ms after its grant is written to the other nodes too. Until
     * then it is stored on no more nodes than a majority: if one of them restarts without its keys
     * in this time, and no restart guard keeps it from voting, a second client can get the lock.
     * The tokens of shorter leases stay on a majority: if one of its nodes forgets them, and no
     * restart guard is on, a later token can be lower.
     *
     * <p>All nodes are asked if others want the lock, if a node was not heard of for a second, with
     * a {@link #minimumHold}, and if the usual round trip is longer than a sixth of the node
     * timeout.
     */
    public Builder majorityFirst(boolean majorityFirst) {
      this.majorityFirst = majorityFirst;
      return this;
    }

    /**
     * The time after which a waiter asks again if no wake-up arrives: 10 ms to 1 min. Default 1 s.
     * The client adds ± 50 % jitter, and limits it to a third of the lease time. For clients that
     * are far back in the queue it is longer.
     */
    public Builder pollInterval(Duration pollInterval) {
      this.pollInterval = requireNonNull(pollInterval, "pollInterval");
      return this;
    }

    /** Whether {@code withLock} interrupts its thread when the lease is lost. Default false. */
    public Builder interruptOnLoss(boolean interruptOnLoss) {
      this.interruptOnLoss = interruptOnLoss;
      return this;
    }

    /** Without a given lease time, {@code maxLeaseTime} is used if it is shorter than 30 s. */
    LockOptions build(@Nullable Duration maxLeaseTime) {
      if (leaseTime != null
          || maxLeaseTime == null
          || maxLeaseTime.compareTo(DEFAULT_LEASE_TIME) >= 0) {
        return build();
      }
      return new Builder(this).leaseTime(maxLeaseTime).build();
    }

    /**
     * Validates and makes the options. The builder may be used again.
     *
     * @throws InvalidOptionException if a value is out of range; the message has the numbers
     */
    public LockOptions build() {
      return new LockOptions(this);
    }
  }
}
