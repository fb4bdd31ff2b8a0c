package dev.redlock.vertx;

import dev.redlock.LockOptions;
import dev.redlock.internal.text.HolderMark;
import dev.redlock.spi.RestartGuard;
import io.vertx.codegen.annotations.DataObject;
import io.vertx.codegen.annotations.GenIgnore;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The options of a {@link VertxRedlock}, as an object and as JSON. This class ignores an unknown
 * JSON field and logs a warning, as the options of Vert.x do. It rejects a field with an invalid
 * value by an exception that names the field. Not safe for concurrent use.
 */
@DataObject
public final class RedlockOptions {

  private static final Logger log = LoggerFactory.getLogger(RedlockOptions.class);

  /** All {@link Field}s. */
  private final JsonObject values;

  /** Creates options with all defaults and no nodes. */
  public RedlockOptions() {
    values = Field.defaults();
  }

  /** Creates a copy. */
  public RedlockOptions(RedlockOptions other) {
    values = other.toJson();
  }

  /**
   * Creates options from JSON. A field that the JSON does not contain has its default.
   *
   * @throws IllegalArgumentException if a field is invalid; the message names it
   */
  public RedlockOptions(JsonObject json) {
    values = Field.read(json);
    setLabel(getLabel());
    setCloseGraceMillis(getCloseGraceMillis());
    setReleaseHints(getReleaseHints());
    setReleaseAddress(getReleaseAddress());
    lockOptions();
    guard();
  }

  /** All fields; {@code new RedlockOptions(o.toJson())} equals {@code o}. */
  public JsonObject toJson() {
    return values.copy();
  }

  /** Returns the default options of every lock. */
  public LockOptions lockOptions() {
    LockOptions.Builder b =
        LockOptions.builder()
            .autoExtend(isAutoExtend())
            .minimumHold(Duration.ofMillis(getMinimumHoldMillis()))
            .queueBound(getQueueBound())
            .maxHandOffs(getMaxHandOffs())
            .fair(isFair())
            .majorityFirst(isMajorityFirst())
            .pollInterval(Duration.ofMillis(getPollIntervalMillis()));
    ifSet(getHoldCapMillis(), b::holdCap);
    ifSet(getLeaseTimeMillis(), b::leaseTime);
    ifSet(getNodeTimeoutMillis(), b::nodeTimeout);
    ifSet(getDriftMillis(), b::drift);
    return b.build();
  }

  private static void ifSet(@Nullable Long millis, Consumer<Duration> to) {
    if (millis != null) {
      to.accept(Duration.ofMillis(millis));
    }
  }

  /**
   * Returns the restart guard that {@link #getRestartGuard()} names.
   *
   * @throws IllegalArgumentException if it names no restart guard
   */
  public RestartGuard guard() {
    return switch (getRestartGuard()) {
      case "uptime" -> RestartGuard.UPTIME;
      case "marker" -> RestartGuard.MARKER;
      case "off" -> RestartGuard.OFF;
      default ->
          throw new IllegalArgumentException(
              "restartGuard must be uptime, marker or off, was " + getRestartGuard());
    };
  }

  /**
   * The URIs of the masters: {@code redis://user:password@host:port} or {@code rediss://…}. They
   * may contain passwords, and so may {@link #toJson()}.
   */
  public List<String> getNodes() {
    return values.getJsonArray(Field.NODES.key).stream().map(String.class::cast).toList();
  }

  /** Replaces the masters. */
  public RedlockOptions setNodes(List<String> nodes) {
    values.put(Field.NODES.key, new JsonArray(new ArrayList<>(nodes)));
    return this;
  }

  /** Adds one master. */
  public RedlockOptions addNode(String uri) {
    values.getJsonArray(Field.NODES.key).add(Objects.requireNonNull(uri, "uri"));
    return this;
  }

  /**
   * Whether the nodes are masters of one Redis Cluster, which then acts as a single node. Default
   * false. Needs {@code redlock-cluster-adapter}.
   */
  public boolean isCluster() {
    return values.getBoolean(Field.CLUSTER.key);
  }

  /** Sets {@link #isCluster()}. */
  public RedlockOptions setCluster(boolean cluster) {
    values.put(Field.CLUSTER.key, cluster);
    return this;
  }

  /** The user for all nodes, together with {@link #getPassword()}. Null means the default user. */
  public @Nullable String getUsername() {
    return values.getString(Field.USERNAME.key);
  }

  /** Sets {@link #getUsername()}. */
  public RedlockOptions setUsername(@Nullable String username) {
    values.put(Field.USERNAME.key, username);
    return this;
  }

  /** The password for all nodes. Null means the passwords in the URIs, if any. */
  public @Nullable String getPassword() {
    return values.getString(Field.PASSWORD.key);
  }

  /** Sets {@link #getPassword()}. */
  public RedlockOptions setPassword(@Nullable String password) {
    values.put(Field.PASSWORD.key, password);
    return this;
  }

  /**
   * A PEM file with the certificates that are trusted for {@code rediss://}. Null means those of
   * the platform.
   */
  public @Nullable String getTrustCertificatePath() {
    return values.getString(Field.TRUST_CERTIFICATE_PATH.key);
  }

  /** Sets {@link #getTrustCertificatePath()}. */
  public RedlockOptions setTrustCertificatePath(@Nullable String trustCertificatePath) {
    values.put(Field.TRUST_CERTIFICATE_PATH.key, trustCertificatePath);
    return this;
  }

  /** A PEM file with the certificate of this client; null if it has none. */
  public @Nullable String getClientCertificatePath() {
    return values.getString(Field.CLIENT_CERTIFICATE_PATH.key);
  }

  /** Sets {@link #getClientCertificatePath()}. */
  public RedlockOptions setClientCertificatePath(@Nullable String clientCertificatePath) {
    values.put(Field.CLIENT_CERTIFICATE_PATH.key, clientCertificatePath);
    return this;
  }

  /** A PEM file with the PKCS #8 key of {@link #getClientCertificatePath()}, not encrypted. */
  public @Nullable String getClientKeyPath() {
    return values.getString(Field.CLIENT_KEY_PATH.key);
  }

  /** Sets {@link #getClientKeyPath()}. */
  public RedlockOptions setClientKeyPath(@Nullable String clientKeyPath) {
    values.put(Field.CLIENT_KEY_PATH.key, clientKeyPath);
    return this;
  }

  /** The prefix of all keys; the same for all clients of a lock. */
  public String getKeyPrefix() {
    return values.getString(Field.KEY_PREFIX.key);
  }

  /** Sets {@link #getKeyPrefix()}. */
  public RedlockOptions setKeyPrefix(String keyPrefix) {
    values.put(Field.KEY_PREFIX.key, Objects.requireNonNull(keyPrefix, "keyPrefix"));
    return this;
  }

  /**
   * Shows people which client holds a lock; see {@link dev.redlock.RedlockBuilder#label}. At most
   * 64 bytes of printable UTF-8. Empty, the default, means host and process id.
   */
  public String getLabel() {
    return values.getString(Field.LABEL.key);
  }

  /**
   * Sets {@link #getLabel()}.
   *
   * @throws IllegalArgumentException if it is too long, or contains characters that are not
   *     printable
   */
  public RedlockOptions setLabel(String label) {
    HolderMark.suffix(label);
    values.put(Field.LABEL.key, label);
    return this;
  }

  /**
   * The longest lease time of the deployment, the same for all clients of these nodes. Null means
   * 30 s, or the lease time if that is longer.
   */
  public @Nullable Long getMaxLeaseTimeMillis() {
    return values.getLong(Field.MAX_LEASE_TIME.key);
  }

  /** Sets {@link #getMaxLeaseTimeMillis()}. */
  public RedlockOptions setMaxLeaseTimeMillis(@Nullable Long maxLeaseTimeMillis) {
    values.put(Field.MAX_LEASE_TIME.key, maxLeaseTimeMillis);
    return this;
  }

  /**
   * The rule that keeps a node that may have forgotten leases from voting: {@code uptime}, {@code
   * marker} or {@code off}.
   */
  public String getRestartGuard() {
    return values.getString(Field.RESTART_GUARD.key);
  }

  /** Sets {@link #getRestartGuard()}. */
  public RedlockOptions setRestartGuard(String restartGuard) {
    values.put(Field.RESTART_GUARD.key, Objects.requireNonNull(restartGuard, "restartGuard"));
    return this;
  }

  /**
   * See {@link LockOptions.Builder#leaseTime}. Null means 30 s, or the longest lease time if that
   * is shorter.
   */
  public @Nullable Long getLeaseTimeMillis() {
    return values.getLong(Field.LEASE_TIME.key);
  }

  /** Sets {@link #getLeaseTimeMillis()}. */
  @GenIgnore // The getter has another type: null means a default that follows.
  public RedlockOptions setLeaseTimeMillis(long leaseTimeMillis) {
    values.put(Field.LEASE_TIME.key, leaseTimeMillis);
    return this;
  }

  /** See {@link LockOptions.Builder#drift}. Null means 1/100 of the lease time + 2 ms. */
  public @Nullable Long getDriftMillis() {
    return values.getLong(Field.DRIFT.key);
  }

  /** Sets {@link #getDriftMillis()}. */
  public RedlockOptions setDriftMillis(@Nullable Long driftMillis) {
    values.put(Field.DRIFT.key, driftMillis);
    return this;
  }

  /**
   * See {@link LockOptions.Builder#nodeTimeout}. Null means 250 ms, or less for a short lease time.
   */
  public @Nullable Long getNodeTimeoutMillis() {
    return values.getLong(Field.NODE_TIMEOUT.key);
  }

  /** Sets {@link #getNodeTimeoutMillis()}. */
  @GenIgnore // The getter has another type: null means a default that follows.
  public RedlockOptions setNodeTimeoutMillis(long nodeTimeoutMillis) {
    values.put(Field.NODE_TIMEOUT.key, nodeTimeoutMillis);
    return this;
  }

  /** See {@link LockOptions.Builder#autoExtend}. */
  public boolean isAutoExtend() {
    return values.getBoolean(Field.AUTO_EXTEND.key);
  }

  /** Sets {@link #isAutoExtend()}. */
  public RedlockOptions setAutoExtend(boolean autoExtend) {
    values.put(Field.AUTO_EXTEND.key, autoExtend);
    return this;
  }

  /**
   * See {@link LockOptions.Builder#holdCap}. Null means 1 h for locks, and no cap for elections and
   * locked verticles.
   */
  public @Nullable Long getHoldCapMillis() {
    return values.getLong(Field.HOLD_CAP.key);
  }

  /** Sets {@link #getHoldCapMillis()}. */
  public RedlockOptions setHoldCapMillis(@Nullable Long holdCapMillis) {
    values.put(Field.HOLD_CAP.key, holdCapMillis);
    return this;
  }

  /** See {@link LockOptions.Builder#minimumHold}. */
  public long getMinimumHoldMillis() {
    return values.getLong(Field.MINIMUM_HOLD.key);
  }

  /** Sets {@link #getMinimumHoldMillis()}. */
  public RedlockOptions setMinimumHoldMillis(long minimumHoldMillis) {
    values.put(Field.MINIMUM_HOLD.key, minimumHoldMillis);
    return this;
  }

  /** See {@link LockOptions.Builder#queueBound}. */
  public int getQueueBound() {
    return values.getInteger(Field.QUEUE_BOUND.key);
  }

  /** Sets {@link #getQueueBound()}. */
  public RedlockOptions setQueueBound(int queueBound) {
    values.put(Field.QUEUE_BOUND.key, queueBound);
    return this;
  }

  /** See {@link LockOptions.Builder#maxHandOffs}. */
  public int getMaxHandOffs() {
    return values.getInteger(Field.MAX_HAND_OFFS.key);
  }

  /** Sets {@link #getMaxHandOffs()}. */
  public RedlockOptions setMaxHandOffs(int maxHandOffs) {
    values.put(Field.MAX_HAND_OFFS.key, maxHandOffs);
    return this;
  }

  /** See {@link LockOptions.Builder#fair}. */
  public boolean isFair() {
    return values.getBoolean(Field.FAIR.key);
  }

  /** Sets {@link #isFair()}. */
  public RedlockOptions setFair(boolean fair) {
    values.put(Field.FAIR.key, fair);
    return this;
  }

  /** See {@link LockOptions.Builder#majorityFirst}. */
  public boolean isMajorityFirst() {
    return values.getBoolean(Field.MAJORITY_FIRST.key);
  }

  /** Sets {@link #isMajorityFirst()}. */
  public RedlockOptions setMajorityFirst(boolean majorityFirst) {
    values.put(Field.MAJORITY_FIRST.key, majorityFirst);
    return this;
  }

  /** See {@link LockOptions.Builder#pollInterval}. */
  public long getPollIntervalMillis() {
    return values.getLong(Field.POLL_INTERVAL.key);
  }

  /** Sets {@link #getPollIntervalMillis()}. */
  public RedlockOptions setPollIntervalMillis(long pollIntervalMillis) {
    values.put(Field.POLL_INTERVAL.key, pollIntervalMillis);
    return this;
  }

  /**
   * How long the body of a {@code withLock} may still run when its verticle was undeployed or the
   * client closes. The client keeps the lease of the body until then, and the undeployment or close
   * waits for it. After this time the client releases the lease and logs a warning with its name. A
   * close then waits as long for leases of {@link VertxRedlock#redlock}; see {@link
   * dev.redlock.Redlock#close(java.time.Duration)}. Default 10 s; with 0 the client does not wait.
   */
  public long getCloseGraceMillis() {
    return values.getLong(Field.CLOSE_GRACE.key);
  }

  /**
   * Sets {@link #getCloseGraceMillis()}.
   *
   * @throws IllegalArgumentException if it is negative
   */
  public RedlockOptions setCloseGraceMillis(long closeGraceMillis) {
    if (closeGraceMillis < 0) {
      throw new IllegalArgumentException(
          "closeGraceMillis must not be negative, was " + closeGraceMillis);
    }
    values.put(Field.CLOSE_GRACE.key, closeGraceMillis);
    return this;
  }

  /**
   * When this client uses release hints on the event bus. With {@code auto} (the default) it asks
   * other clients for hints only while no quorum of nodes notifies it of releases. With {@code
   * always} it asks in any case. With {@code auto} and {@code always} it also sends hints to
   * clients that ask. With {@code never} it neither asks nor sends.
   */
  public String getReleaseHints() {
    return values.getString(Field.RELEASE_HINTS.key);
  }

  /**
   * Sets {@link #getReleaseHints()}.
   *
   * @throws IllegalArgumentException if it is another word
   */
  public RedlockOptions setReleaseHints(String releaseHints) {
    if (!Set.of("auto", "always", "never").contains(releaseHints)) {
      throw new IllegalArgumentException(
          "releaseHints must be auto, always or never, was " + releaseHints);
    }
    values.put(Field.RELEASE_HINTS.key, releaseHints);
    return this;
  }

  /**
   * The event bus address at which clients say for which names they wait. Hints go to an address of
   * the waiting client, which begins with this address and a dot.
   */
  public String getReleaseAddress() {
    return values.getString(Field.RELEASE_ADDRESS.key);
  }

  /**
   * Sets {@link #getReleaseAddress()}.
   *
   * @throws IllegalArgumentException if it is empty
   */
  public RedlockOptions setReleaseAddress(String releaseAddress) {
    if (Objects.requireNonNull(releaseAddress, "releaseAddress").isEmpty()) {
      throw new IllegalArgumentException(
          "releaseAddress must not be empty; releaseHints never switches the bus off");
    }
    values.put(Field.RELEASE_ADDRESS.key, releaseAddress);
    return this;
  }

  @Override
  public boolean equals(@Nullable Object o) {
    return o instanceof RedlockOptions other && toJson().equals(other.toJson());
  }

  @Override
  public int hashCode() {
    return toJson().hashCode();
  }

  /** Shows the number of nodes only, because their URIs may contain passwords; no password. */
  @Override
  public String toString() {
    JsonObject json = toJson();
    json.put("nodes", getNodes().size());
    json.put("password", getPassword() == null ? null : "***");
    return "RedlockOptions" + json.encode();
  }

  /** The fields, with their kinds and defaults. */
  enum Field {
    NODES("nodes", Kind.STRINGS, new JsonArray()),
    CLUSTER("cluster", Kind.FLAG, false),
    USERNAME("username", Kind.TEXT_OR_NULL, null),
    PASSWORD("password", Kind.TEXT_OR_NULL, null),
    TRUST_CERTIFICATE_PATH("trustCertificatePath", Kind.TEXT_OR_NULL, null),
    CLIENT_CERTIFICATE_PATH("clientCertificatePath", Kind.TEXT_OR_NULL, null),
    CLIENT_KEY_PATH("clientKeyPath", Kind.TEXT_OR_NULL, null),
    KEY_PREFIX("keyPrefix", Kind.TEXT, "redlock"),
    LABEL("label", Kind.TEXT, ""),
    MAX_LEASE_TIME("maxLeaseTimeMillis", Kind.WHOLE_OR_NULL, null),
    RESTART_GUARD("restartGuard", Kind.TEXT, "uptime"),
    LEASE_TIME("leaseTimeMillis", Kind.WHOLE_OR_NULL, null),
    DRIFT("driftMillis", Kind.WHOLE_OR_NULL, null),
    NODE_TIMEOUT("nodeTimeoutMillis", Kind.WHOLE_OR_NULL, null),
    AUTO_EXTEND("autoExtend", Kind.FLAG, true),
    HOLD_CAP("holdCapMillis", Kind.WHOLE_OR_NULL, null),
    MINIMUM_HOLD("minimumHoldMillis", Kind.WHOLE, 0L),
    QUEUE_BOUND("queueBound", Kind.SMALL, 1000),
    MAX_HAND_OFFS("maxHandOffs", Kind.SMALL, 16),
    FAIR("fair", Kind.FLAG, false),
    MAJORITY_FIRST("majorityFirst", Kind.FLAG, false),
    POLL_INTERVAL("pollIntervalMillis", Kind.WHOLE, 1_000L),
    CLOSE_GRACE("closeGraceMillis", Kind.WHOLE, 10_000L),
    RELEASE_HINTS("releaseHints", Kind.TEXT, "auto"),
    RELEASE_ADDRESS("releaseAddress", Kind.TEXT, "redlock.released");

    /** The name in JSON. */
    final String key;

    private final Kind kind;

    @SuppressWarnings("ImmutableEnumChecker") // Immutable, except the list, which is copied.
    private final @Nullable Object initial;

    Field(String key, Kind kind, @Nullable Object initial) {
      this.key = key;
      this.kind = kind;
      this.initial = initial;
    }

    /** All fields, with their defaults. */
    static JsonObject defaults() {
      JsonObject json = new JsonObject();
      for (Field field : values()) {
        json.put(field.key, field.initial);
      }
      return json.copy(); // Also the list of nodes, which is changed in place.
    }

    /**
     * The fields of this JSON, and the defaults of those that it does not contain. Ignores unknown
     * fields and logs a warning.
     *
     * @throws IllegalArgumentException if a field is of another kind; the message names it
     */
    static JsonObject read(JsonObject json) {
      JsonObject all = defaults();
      Set<String> known = new TreeSet<>(all.fieldNames());
      Set<String> unknown = new TreeSet<>(json.fieldNames());
      unknown.removeAll(known);
      if (!unknown.isEmpty()) {
        log.warn("unknown fields {} are ignored; known fields are {}", unknown, known);
      }
      for (Field field : values()) {
        Object value = json.getValue(field.key);
        boolean missing = value == null && (field.kind.nullable || !json.containsKey(field.key));
        if (!missing) {
          all.put(field.key, field.read(value));
        }
      }
      return all;
    }

    private Object read(@Nullable Object value) {
      Object read = value == null ? null : kind.read(value);
      if (read == null) {
        // The URI of a node may contain a password too.
        Object shown = this == NODES || this == PASSWORD ? "something else" : value;
        throw new IllegalArgumentException(key + " must be " + kind.wanted + ", was " + shown);
      }
      return read;
    }

    /** What a field may contain. Null, where it is allowed, means the default. */
    private enum Kind {
      STRINGS("a list of strings", true),
      TEXT("a string", false),
      TEXT_OR_NULL("a string that is not empty, or null", true),
      WHOLE("a whole number", false),
      WHOLE_OR_NULL("a whole number", true),
      SMALL("a whole number below 2^31", false),
      FLAG("true or false", false);

      private final String wanted;
      private final boolean nullable;

      Kind(String wanted, boolean nullable) {
        this.wanted = wanted;
        this.nullable = nullable;
      }

      /** The value as the options store it; null if it is not of this kind. */
      @Nullable Object read(Object value) {
        return switch (this) {
          case STRINGS ->
              value instanceof JsonArray array && array.stream().allMatch(String.class::isInstance)
                  ? array.copy()
                  : null;
          case TEXT -> value instanceof String ? value : null;
          case TEXT_OR_NULL -> value instanceof String text && !text.isEmpty() ? text : null;
          case WHOLE, WHOLE_OR_NULL -> whole(value);
          case SMALL -> {
            Long whole = whole(value);
            yield whole != null && whole == whole.intValue() ? whole.intValue() : null;
          }
          case FLAG -> value instanceof Boolean ? value : null;
        };
      }

      private static @Nullable Long whole(Object value) {
        return value instanceof Integer || value instanceof Long
            ? ((Number) value).longValue()
            : null;
      }
    }
  }
}
