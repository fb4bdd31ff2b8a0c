package dev.redlock.spring.boot;

import dev.redlock.InvalidOptionException;
import dev.redlock.LockOptions;
import dev.redlock.internal.text.Printable;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spring.LockedMethodProcessor.InTransaction;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code redlock.*}. With an unknown key the application does not start.
 *
 * @param enabled Whether the client is configured.
 * @param nodes URIs of the independent masters, such as redis://host:6379, or rediss:// for TLS.
 * @param username User of all masters. Default: that of the URI.
 * @param password Password of all masters. Default: that of the URI.
 * @param connectTimeout How long connect, handshake and probe may take, each.
 * @param maxLeaseTime Longest lease time of the deployment, at most 1h; the same for all clients.
 *     Default: 30s, or the default lease time if that is longer.
 * @param restartGuard The rule that keeps nodes out that may have forgotten leases. Default:
 *     uptime; off if all masters are containers of a test.
 * @param keyPrefix Prefix of all keys; the same for all clients of a lock.
 * @param label Shows people which client holds a lock. Default: name of the application, host and
 *     process id.
 * @param traceLeaks Whether the warning about a lease that was never released shows where it was
 *     acquired.
 * @param locks Options by name. The first pattern that matches all names of a lock applies.
 */
@ConfigurationProperties(prefix = "redlock", ignoreUnknownFields = false)
public record RedlockProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue List<String> nodes,
    @Nullable String username,
    @Nullable String password,
    @DefaultValue("500ms") Duration connectTimeout,
    @Nullable Duration maxLeaseTime,
    @Nullable RestartGuard restartGuard,
    @DefaultValue("redlock") String keyPrefix,
    @Nullable String label,
    boolean traceLeaks,
    @DefaultValue Options defaults,
    @DefaultValue List<Named> locks,
    @DefaultValue Ssl ssl,
    @DefaultValue LockedMethods locked,
    @DefaultValue Endpoint endpoint,
    @DefaultValue Observation observation,
    @DefaultValue Registry registry,
    @DefaultValue Shutdown shutdown) {

  @Override
  public String toString() {
    return "redlock.*"; // The password is not for logs.
  }

  /**
   * A property has a value that the client rejects.
   *
   * @param key the full key
   * @param value a text or a time, without credentials; null if the reason has it
   * @param reason what is allowed
   */
  static InvalidOptionException invalid(String key, @Nullable Object value, String reason) {
    String shown = value instanceof Duration time ? Printable.of(time) : (String) value;
    String given = value == null ? "" : " = '" + shown + "'";
    return new InvalidOptionException(key, shown, "Property '" + key + "'" + given + ": " + reason);
  }

  /**
   * The options of a lock. Options that are not given have the default values.
   *
   * @param leaseTime How long nodes keep the lock unless it is extended: 10ms to 1h. Default: 30s.
   * @param drift Allowance for clocks that run at different rates. Default: 1 % of the lease time +
   *     2ms.
   * @param nodeTimeout Maximum age at which a vote counts: 1ms to 1s. Default: 250ms.
   * @param autoExtend Whether the client extends leases after each third of the lease time.
   *     Default: true.
   * @param holdCap Longest time that one holder can keep a lease. Default: 1h.
   * @param minimumHold Shortest time for which the lock stays taken: 0 to the lease time. Default:
   *     0.
   * @param queueBound How many callers of this client may wait for one lock. Default: 1000.
   * @param maxHandOffs How often in a row this client hands the lock off to its own callers.
   *     Default: 16.
   * @param fair Whether callers of all clients get the lock in the order in which they came.
   *     Default: false.
   * @param majorityFirst Whether an acquire asks a majority of the nodes first. Default: false.
   * @param pollInterval Time after which a waiter asks again if no wake-up arrives: 10ms to 1m.
   *     Default: 1s.
   * @param interruptOnLoss Whether the thread of a locked method is interrupted when the lease is
   *     lost. Default: false.
   */
  public record Options(
      @Nullable Duration leaseTime,
      @Nullable Duration drift,
      @Nullable Duration nodeTimeout,
      @Nullable Boolean autoExtend,
      @Nullable Duration holdCap,
      @Nullable Duration minimumHold,
      @Nullable Integer queueBound,
      @Nullable Integer maxHandOffs,
      @Nullable Boolean fair,
      @Nullable Boolean majorityFirst,
      @Nullable Duration pollInterval,
      @Nullable Boolean interruptOnLoss) {

    /** These options over others. Throws an InvalidOptionException. */
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
  }

  /**
   * The {@link Options} of the locks whose names match a pattern.
   *
   * @param pattern Pattern of names: * stands for any text, ? for one character.
   */
  public record Named(
      @Nullable String pattern,
      @Nullable Duration leaseTime,
      @Nullable Duration drift,
      @Nullable Duration nodeTimeout,
      @Nullable Boolean autoExtend,
      @Nullable Duration holdCap,
      @Nullable Duration minimumHold,
      @Nullable Integer queueBound,
      @Nullable Integer maxHandOffs,
      @Nullable Boolean fair,
      @Nullable Boolean majorityFirst,
      @Nullable Duration pollInterval,
      @Nullable Boolean interruptOnLoss) {

    Options options() {
      return new Options(
          leaseTime,
          drift,
          nodeTimeout,
          autoExtend,
          holdCap,
          minimumHold,
          queueBound,
          maxHandOffs,
          fair,
          majorityFirst,
          pollInterval,
          interruptOnLoss);
    }
  }

  /**
   * TLS. Not public, like {@link Registry}: Spring would convert a text to it, through its
   * constructor.
   *
   * @param bundle Name of the SSL bundle with trust and keys for rediss:// nodes.
   */
  record Ssl(@Nullable String bundle) {}

  /**
   * Methods with {@code @Locked}.
   *
   * @param waitTime How long a method waits for its lock unless its annotation says so.
   * @param inTransaction What a call does if its caller's transaction, which is not read-only,
   *     began before the lock.
   * @param order Order of the lock among the advice of a method; advice with a lower order is
   *     outside.
   */
  public record LockedMethods(
      @DefaultValue("10s") Duration waitTime,
      @DefaultValue("fail") InTransaction inTransaction,
      @Nullable Integer order) {}

  /**
   * The Actuator endpoint.
   *
   * @param breakEnabled Whether the endpoint can take a lock from its holder (DELETE).
   */
  public record Endpoint(boolean breakEnabled) {}

  /**
   * Observations of calls.
   *
   * @param enabled Whether calls of locks are observations. Needs redlock-micrometer.
   */
  public record Observation(@DefaultValue("true") boolean enabled) {}

  /**
   * The lock registry of Spring Integration.
   *
   * @param prefix Prefix of the lock names of the registry.
   */
  record Registry(@DefaultValue("integration:") String prefix) {}

  /**
   * The end of the application.
   *
   * @param gracePeriod How long the client waits for locks that are still held when all beans that
   *     use it are destroyed. Then it releases them, and logs their names.
   */
  public record Shutdown(@DefaultValue("10s") Duration gracePeriod) {}
}
