package dev.redlock.spring.boot;

import dev.redlock.LockOptions;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spring.LockedMethodProcessor.InTransaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.core.Ordered;

/** The properties {@code redlock.*}. With an unknown key the application does not start. */
@ConfigurationProperties(prefix = "redlock", ignoreUnknownFields = false)
public class RedlockProperties {
  /** Whether the client is configured. */
  private boolean enabled = true;

  /** URIs of the independent masters, such as redis://host:6379, or rediss:// for TLS. */
  private List<String> nodes = new ArrayList<>();

  /** User of all masters. Default: that of the URI. */
  private @Nullable String username;

  /** Password of all masters. Default: that of the URI. */
  private @Nullable String password;

  /** How long connect, handshake and probe may take, each. */
  private Duration connectTimeout = Duration.ofMillis(500);

  /**
   * Longest lease time of the deployment, at most 1h; the same for all clients. Default: 30s, or
   * the default lease time if that is longer.
   */
  private @Nullable Duration maxLeaseTime;

  /**
   * The rule that keeps nodes out that may have forgotten leases. Default: uptime; off if all
   * masters are containers of a test.
   */
  private @Nullable RestartGuard restartGuard;

  /** Prefix of all keys; the same for all clients of a lock. */
  private String keyPrefix = "redlock";

  /**
   * Shows people which client holds a lock. Default: name of the application, host and process id.
   */
  private @Nullable String label;

  /** Whether the warning about a lease that was never released shows where it was acquired. */
  private boolean traceLeaks;

  private final Options defaults = new Options();

  /** Options by name. The first pattern that matches all names of a lock applies. */
  private List<Named> locks = new ArrayList<>();

  private final Ssl ssl = new Ssl();
  private final LockedMethods locked = new LockedMethods();
  private final Endpoint endpoint = new Endpoint();
  private final Observation observation = new Observation();
  private final Registry registry = new Registry();
  private final Shutdown shutdown = new Shutdown();

  public boolean isEnabled() {
    return enabled;
  }

  public void setEnabled(boolean enabled) {
    this.enabled = enabled;
  }

  public List<String> getNodes() {
    return nodes;
  }

  public void setNodes(List<String> nodes) {
    this.nodes = nodes;
  }

  public @Nullable String getUsername() {
    return username;
  }

  public void setUsername(@Nullable String username) {
    this.username = username;
  }

  public @Nullable String getPassword() {
    return password;
  }

  public void setPassword(@Nullable String password) {
    this.password = password;
  }

  public Duration getConnectTimeout() {
    return connectTimeout;
  }

  public void setConnectTimeout(Duration connectTimeout) {
    this.connectTimeout = connectTimeout;
  }

  public @Nullable Duration getMaxLeaseTime() {
    return maxLeaseTime;
  }

  public void setMaxLeaseTime(@Nullable Duration maxLeaseTime) {
    this.maxLeaseTime = maxLeaseTime;
  }

  public @Nullable RestartGuard getRestartGuard() {
    return restartGuard;
  }

  public void setRestartGuard(@Nullable RestartGuard restartGuard) {
    this.restartGuard = restartGuard;
  }

  public String getKeyPrefix() {
    return keyPrefix;
  }

  public void setKeyPrefix(String keyPrefix) {
    this.keyPrefix = keyPrefix;
  }

  public @Nullable String getLabel() {
    return label;
  }

  public void setLabel(@Nullable String label) {
    this.label = label;
  }

  public boolean isTraceLeaks() {
    return traceLeaks;
  }

  public void setTraceLeaks(boolean traceLeaks) {
    this.traceLeaks = traceLeaks;
  }

  public Options getDefaults() {
    return defaults;
  }

  public List<Named> getLocks() {
    return locks;
  }

  public void setLocks(List<Named> locks) {
    this.locks = locks;
  }

  public Ssl getSsl() {
    return ssl;
  }

  public LockedMethods getLocked() {
    return locked;
  }

  public Endpoint getEndpoint() {
    return endpoint;
  }

  public Observation getObservation() {
    return observation;
  }

  public Registry getRegistry() {
    return registry;
  }

  public Shutdown getShutdown() {
    return shutdown;
  }

  /** The options of a lock. Options that are not given have the default values. */
  public static class Options {
    /** How long nodes keep the lock unless it is extended: 10ms to 1h. Default: 30s. */
    private @Nullable Duration leaseTime;

    /** Allowance for clocks that run at different rates. Default: 1 % of the lease time + 2ms. */
    private @Nullable Duration drift;

    /** Maximum age at which a vote counts: 1ms to 1s. Default: 250ms. */
    private @Nullable Duration nodeTimeout;

    /** Whether the client extends leases after each third of the lease time. Default: true. */
    private @Nullable Boolean autoExtend;

    /** Longest time that one holder can keep a lease. Default: 1h. */
    private @Nullable Duration holdCap;

    /** Shortest time for which the lock stays taken: 0 to the lease time. Default: 0. */
    private @Nullable Duration minimumHold;

    /** How many callers of this client may wait for one lock. Default: 1000. */
    private @Nullable Integer queueBound;

    /** How often in a row this client hands the lock off to its own callers. Default: 16. */
    private @Nullable Integer maxHandOffs;

    /**
     * Whether callers of all clients get the lock in the order in which they came. Default: false.
     */
    private @Nullable Boolean fair;

    /** Whether an acquire asks a majority of the nodes first. Default: false. */
    private @Nullable Boolean majorityFirst;

    /** Time after which a waiter asks again if no wake-up arrives: 10ms to 1m. Default: 1s. */
    private @Nullable Duration pollInterval;

    /**
     * Whether the thread of a locked method is interrupted when the lease is lost. Default: false.
     */
    private @Nullable Boolean interruptOnLoss;

    /** These options over others. Throws IllegalArgumentException that begins with the option. */
    LockOptions over(LockOptions base) {
      LockOptions.Builder builder = base.toBuilder();
      set(builder, LockOptions.Builder::leaseTime, leaseTime);
      set(builder, LockOptions.Builder::drift, drift);
      set(builder, LockOptions.Builder::nodeTimeout, nodeTimeout);
      set(builder, LockOptions.Builder::autoExtend, autoExtend);
      set(builder, LockOptions.Builder::holdCap, holdCap);
      set(builder, LockOptions.Builder::minimumHold, minimumHold);
      set(builder, LockOptions.Builder::queueBound, queueBound);
      set(builder, LockOptions.Builder::maxHandOffs, maxHandOffs);
      set(builder, LockOptions.Builder::fair, fair);
      set(builder, LockOptions.Builder::majorityFirst, majorityFirst);
      set(builder, LockOptions.Builder::pollInterval, pollInterval);
      set(builder, LockOptions.Builder::interruptOnLoss, interruptOnLoss);
      return builder.build();
    }

    private static <T> void set(
        LockOptions.Builder builder, BiConsumer<LockOptions.Builder, T> option, @Nullable T value) {
      if (value != null) {
        option.accept(builder, value);
      }
    }

    public @Nullable Duration getLeaseTime() {
      return leaseTime;
    }

    public void setLeaseTime(@Nullable Duration leaseTime) {
      this.leaseTime = leaseTime;
    }

    public @Nullable Duration getDrift() {
      return drift;
    }

    public void setDrift(@Nullable Duration drift) {
      this.drift = drift;
    }

    public @Nullable Duration getNodeTimeout() {
      return nodeTimeout;
    }

    public void setNodeTimeout(@Nullable Duration nodeTimeout) {
      this.nodeTimeout = nodeTimeout;
    }

    public @Nullable Boolean getAutoExtend() {
      return autoExtend;
    }

    public void setAutoExtend(@Nullable Boolean autoExtend) {
      this.autoExtend = autoExtend;
    }

    public @Nullable Duration getHoldCap() {
      return holdCap;
    }

    public void setHoldCap(@Nullable Duration holdCap) {
      this.holdCap = holdCap;
    }

    public @Nullable Duration getMinimumHold() {
      return minimumHold;
    }

    public void setMinimumHold(@Nullable Duration minimumHold) {
      this.minimumHold = minimumHold;
    }

    public @Nullable Integer getQueueBound() {
      return queueBound;
    }

    public void setQueueBound(@Nullable Integer queueBound) {
      this.queueBound = queueBound;
    }

    public @Nullable Integer getMaxHandOffs() {
      return maxHandOffs;
    }

    public void setMaxHandOffs(@Nullable Integer maxHandOffs) {
      this.maxHandOffs = maxHandOffs;
    }

    public @Nullable Boolean getFair() {
      return fair;
    }

    public void setFair(@Nullable Boolean fair) {
      this.fair = fair;
    }

    public @Nullable Boolean getMajorityFirst() {
      return majorityFirst;
    }

    public void setMajorityFirst(@Nullable Boolean majorityFirst) {
      this.majorityFirst = majorityFirst;
    }

    public @Nullable Duration getPollInterval() {
      return pollInterval;
    }

    public void setPollInterval(@Nullable Duration pollInterval) {
      this.pollInterval = pollInterval;
    }

    public @Nullable Boolean getInterruptOnLoss() {
      return interruptOnLoss;
    }

    public void setInterruptOnLoss(@Nullable Boolean interruptOnLoss) {
      this.interruptOnLoss = interruptOnLoss;
    }
  }

  /** The options of the locks whose names match a pattern. */
  public static class Named extends Options {
    /** Pattern of names: * stands for any text, ? for one character. */
    private @Nullable String pattern;

    public @Nullable String getPattern() {
      return pattern;
    }

    public void setPattern(@Nullable String pattern) {
      this.pattern = pattern;
    }
  }

  /** TLS. */
  public static class Ssl {
    /** Name of the SSL bundle with trust and keys for rediss:// nodes. */
    private @Nullable String bundle;

    public @Nullable String getBundle() {
      return bundle;
    }

    public void setBundle(@Nullable String bundle) {
      this.bundle = bundle;
    }
  }

  /** Methods with {@code @Locked}. */
  public static class LockedMethods {
    /** How long a method waits for its lock unless its annotation says so. */
    private Duration waitTime = Duration.ofSeconds(10);

    /**
     * What a call does if its caller's transaction, which is not read-only, began before the lock.
     */
    private InTransaction inTransaction = InTransaction.FAIL;

    /** Order of the lock among the advice of a method; advice with a lower order is outside. */
    private int order = Ordered.LOWEST_PRECEDENCE - 1;

    public Duration getWaitTime() {
      return waitTime;
    }

    public void setWaitTime(Duration waitTime) {
      this.waitTime = waitTime;
    }

    public InTransaction getInTransaction() {
      return inTransaction;
    }

    public void setInTransaction(InTransaction inTransaction) {
      this.inTransaction = inTransaction;
    }

    public int getOrder() {
      return order;
    }

    public void setOrder(int order) {
      this.order = order;
    }
  }

  /** The Actuator endpoint. */
  public static class Endpoint {
    /** Whether the endpoint can take a lock from its holder (DELETE). */
    private boolean breakEnabled;

    public boolean isBreakEnabled() {
      return breakEnabled;
    }

    public void setBreakEnabled(boolean breakEnabled) {
      this.breakEnabled = breakEnabled;
    }
  }

  /** Observations of calls. */
  public static class Observation {
    /** Whether calls of locks are observations. Needs redlock-micrometer. */
    private boolean enabled = true;

    public boolean isEnabled() {
      return enabled;
    }

    public void setEnabled(boolean enabled) {
      this.enabled = enabled;
    }
  }

  /** The lock registry of Spring Integration. */
  public static class Registry {
    /** Prefix of the lock names of the registry. */
    private String prefix = "integration:";

    public String getPrefix() {
      return prefix;
    }

    public void setPrefix(String prefix) {
      this.prefix = prefix;
    }
  }

  /** The end of the application. */
  public static class Shutdown {
    /**
     * How long the client waits for locks that are still held when all beans that use it are
     * destroyed. Then it releases them, and logs their names.
     */
    private Duration gracePeriod = Duration.ofSeconds(10);

    public Duration getGracePeriod() {
      return gracePeriod;
    }

    public void setGracePeriod(Duration gracePeriod) {
      this.gracePeriod = gracePeriod;
    }
  }
}
