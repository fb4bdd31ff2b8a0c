package dev.redlock.vertx;

import dev.redlock.LockOptions;
import dev.redlock.spi.RestartGuard;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link VertxRedlock} is made with, as an object and as JSON. A JSON field that is unknown,
 * or whose value does not fit, is refused by name. Not safe for concurrent use.
 */
public final class RedlockOptions {

  private final List<String> nodes = new ArrayList<>();
  private String keyPrefix = "redlock";
  private @Nullable Long maxLeaseTimeMillis;
  private String restartGuard = "uptime";
  private long leaseTimeMillis = 30_000;
  private @Nullable Long driftMillis;
  private long nodeTimeoutMillis = 100;
  private boolean autoExtend = true;
  private long holdCapMillis = 3_600_000;
  private long minimumHoldMillis;
  private int queueBound = 1000;
  private int maxHandOffs = 16;
  private boolean fair;
  private long lineTimeoutMillis = 5_000;
  private long pollIntervalMillis = 1_000;
  private @Nullable String releaseAddress = "redlock.released";
  private boolean addressPerName;
  private boolean bridgeRedisHints;
  private @Nullable String eventAddress;
  private @Nullable Boolean localOnly;

  /** The defaults, without nodes. */
  public RedlockOptions() {}

  /** A copy. */
  public RedlockOptions(RedlockOptions other) {
    nodes.addAll(other.nodes);
    keyPrefix = other.keyPrefix;
    maxLeaseTimeMillis = other.maxLeaseTimeMillis;
    restartGuard = other.restartGuard;
    leaseTimeMillis = other.leaseTimeMillis;
    driftMillis = other.driftMillis;
    nodeTimeoutMillis = other.nodeTimeoutMillis;
    autoExtend = other.autoExtend;
    holdCapMillis = other.holdCapMillis;
    minimumHoldMillis = other.minimumHoldMillis;
    queueBound = other.queueBound;
    maxHandOffs = other.maxHandOffs;
    fair = other.fair;
    lineTimeoutMillis = other.lineTimeoutMillis;
    pollIntervalMillis = other.pollIntervalMillis;
    releaseAddress = other.releaseAddress;
    addressPerName = other.addressPerName;
    bridgeRedisHints = other.bridgeRedisHints;
    eventAddress = other.eventAddress;
    localOnly = other.localOnly;
  }

  /**
   * Defaults, but for what the JSON says.
   *
   * @throws IllegalArgumentException naming the field that is unknown or does not fit
   */
  public RedlockOptions(JsonObject json) {
    Set<String> known = new TreeSet<>(toJson().fieldNames());
    Set<String> unknown = new TreeSet<>(json.fieldNames());
    unknown.removeAll(known);
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException(
          "unknown field " + String.join(", ", unknown) + "; known are " + known);
    }
    Fields fields = new Fields(json);
    nodes.addAll(fields.strings("nodes"));
    keyPrefix = fields.string("keyPrefix", keyPrefix);
    maxLeaseTimeMillis = fields.wholeOrNull("maxLeaseTimeMillis", maxLeaseTimeMillis);
    restartGuard = fields.string("restartGuard", restartGuard);
    leaseTimeMillis = fields.whole("leaseTimeMillis", leaseTimeMillis);
    driftMillis = fields.wholeOrNull("driftMillis", driftMillis);
    nodeTimeoutMillis = fields.whole("nodeTimeoutMillis", nodeTimeoutMillis);
    autoExtend = fields.flag("autoExtend", autoExtend);
    holdCapMillis = fields.whole("holdCapMillis", holdCapMillis);
    minimumHoldMillis = fields.whole("minimumHoldMillis", minimumHoldMillis);
    queueBound = fields.small("queueBound", queueBound);
    maxHandOffs = fields.small("maxHandOffs", maxHandOffs);
    fair = fields.flag("fair", fair);
    lineTimeoutMillis = fields.whole("lineTimeoutMillis", lineTimeoutMillis);
    pollIntervalMillis = fields.whole("pollIntervalMillis", pollIntervalMillis);
    releaseAddress = fields.stringOrNull("releaseAddress", releaseAddress);
    addressPerName = fields.flag("addressPerName", addressPerName);
    bridgeRedisHints = fields.flag("bridgeRedisHints", bridgeRedisHints);
    eventAddress = fields.stringOrNull("eventAddress", eventAddress);
    localOnly = fields.flagOrNull("localOnly", localOnly);
    lockOptions();
    guard();
  }

  /** All fields; {@code new RedlockOptions(o.toJson())} equals {@code o}. */
  public JsonObject toJson() {
    return new JsonObject()
        .put("nodes", new JsonArray(new ArrayList<>(nodes)))
        .put("keyPrefix", keyPrefix)
        .put("maxLeaseTimeMillis", maxLeaseTimeMillis)
        .put("restartGuard", restartGuard)
        .put("leaseTimeMillis", leaseTimeMillis)
        .put("driftMillis", driftMillis)
        .put("nodeTimeoutMillis", nodeTimeoutMillis)
        .put("autoExtend", autoExtend)
        .put("holdCapMillis", holdCapMillis)
        .put("minimumHoldMillis", minimumHoldMillis)
        .put("queueBound", queueBound)
        .put("maxHandOffs", maxHandOffs)
        .put("fair", fair)
        .put("lineTimeoutMillis", lineTimeoutMillis)
        .put("pollIntervalMillis", pollIntervalMillis)
        .put("releaseAddress", releaseAddress)
        .put("addressPerName", addressPerName)
        .put("bridgeRedisHints", bridgeRedisHints)
        .put("eventAddress", eventAddress)
        .put("localOnly", localOnly);
  }

  /** The defaults of every lock. */
  public LockOptions lockOptions() {
    LockOptions.Builder b =
        LockOptions.builder()
            .leaseTime(Duration.ofMillis(leaseTimeMillis))
            .nodeTimeout(Duration.ofMillis(nodeTimeoutMillis))
            .autoExtend(autoExtend)
            .holdCap(Duration.ofMillis(holdCapMillis))
            .minimumHold(Duration.ofMillis(minimumHoldMillis))
            .queueBound(queueBound)
            .maxHandOffs(maxHandOffs)
            .fair(fair)
            .lineTimeout(Duration.ofMillis(lineTimeoutMillis))
            .pollInterval(Duration.ofMillis(pollIntervalMillis));
    Long drift = driftMillis;
    if (drift != null) {
      b.drift(Duration.ofMillis(drift));
    }
    return b.build();
  }

  /**
   * The guard that {@link #getRestartGuard()} names.
   *
   * @throws IllegalArgumentException if it names none
   */
  public RestartGuard guard() {
    return switch (restartGuard) {
      case "uptime" -> RestartGuard.uptime();
      case "marker" -> RestartGuard.marker();
      case "off" -> RestartGuard.off();
      default ->
          throw new IllegalArgumentException(
              "restartGuard must be uptime, marker or off, was " + restartGuard);
    };
  }

  /**
   * The masters: {@code redis://user:password@host:port} or {@code rediss://…}. They may hold
   * passwords, and so may {@link #toJson()}.
   */
  public List<String> getNodes() {
    return List.copyOf(nodes);
  }

  /** Replaces the masters. */
  public RedlockOptions setNodes(List<String> nodes) {
    this.nodes.clear();
    this.nodes.addAll(nodes);
    return this;
  }

  /** Adds one master. */
  public RedlockOptions addNode(String uri) {
    nodes.add(Objects.requireNonNull(uri, "uri"));
    return this;
  }

  /** What all keys begin with; the same for all clients of a lock. */
  public String getKeyPrefix() {
    return keyPrefix;
  }

  /** Sets {@link #getKeyPrefix()}. */
  public RedlockOptions setKeyPrefix(String keyPrefix) {
    this.keyPrefix = Objects.requireNonNull(keyPrefix, "keyPrefix");
    return this;
  }

  /**
   * The longest lease of the deployment, the same for all clients of these nodes. Null: 30 s, or
   * the lease time if that is longer.
   */
  public @Nullable Long getMaxLeaseTimeMillis() {
    return maxLeaseTimeMillis;
  }

  /** Sets {@link #getMaxLeaseTimeMillis()}. */
  public RedlockOptions setMaxLeaseTimeMillis(@Nullable Long maxLeaseTimeMillis) {
    this.maxLeaseTimeMillis = maxLeaseTimeMillis;
    return this;
  }

  /**
   * How nodes that may have forgotten are kept out: {@code uptime}, {@code marker} or {@code off}.
   */
  public String getRestartGuard() {
    return restartGuard;
  }

  /** Sets {@link #getRestartGuard()}. */
  public RedlockOptions setRestartGuard(String restartGuard) {
    this.restartGuard = Objects.requireNonNull(restartGuard, "restartGuard");
    return this;
  }

  /** See {@link LockOptions.Builder#leaseTime}. */
  public long getLeaseTimeMillis() {
    return leaseTimeMillis;
  }

  /** Sets {@link #getLeaseTimeMillis()}. */
  public RedlockOptions setLeaseTimeMillis(long leaseTimeMillis) {
    this.leaseTimeMillis = leaseTimeMillis;
    return this;
  }

  /** See {@link LockOptions.Builder#drift}. Null: a hundredth of the lease time and 2 ms. */
  public @Nullable Long getDriftMillis() {
    return driftMillis;
  }

  /** Sets {@link #getDriftMillis()}. */
  public RedlockOptions setDriftMillis(@Nullable Long driftMillis) {
    this.driftMillis = driftMillis;
    return this;
  }

  /** See {@link LockOptions.Builder#nodeTimeout}. */
  public long getNodeTimeoutMillis() {
    return nodeTimeoutMillis;
  }

  /** Sets {@link #getNodeTimeoutMillis()}. */
  public RedlockOptions setNodeTimeoutMillis(long nodeTimeoutMillis) {
    this.nodeTimeoutMillis = nodeTimeoutMillis;
    return this;
  }

  /** See {@link LockOptions.Builder#autoExtend}. */
  public boolean isAutoExtend() {
    return autoExtend;
  }

  /** Sets {@link #isAutoExtend()}. */
  public RedlockOptions setAutoExtend(boolean autoExtend) {
    this.autoExtend = autoExtend;
    return this;
  }

  /** See {@link LockOptions.Builder#holdCap}. */
  public long getHoldCapMillis() {
    return holdCapMillis;
  }

  /** Sets {@link #getHoldCapMillis()}. */
  public RedlockOptions setHoldCapMillis(long holdCapMillis) {
    this.holdCapMillis = holdCapMillis;
    return this;
  }

  /** See {@link LockOptions.Builder#minimumHold}. */
  public long getMinimumHoldMillis() {
    return minimumHoldMillis;
  }

  /** Sets {@link #getMinimumHoldMillis()}. */
  public RedlockOptions setMinimumHoldMillis(long minimumHoldMillis) {
    this.minimumHoldMillis = minimumHoldMillis;
    return this;
  }

  /** See {@link LockOptions.Builder#queueBound}. */
  public int getQueueBound() {
    return queueBound;
  }

  /** Sets {@link #getQueueBound()}. */
  public RedlockOptions setQueueBound(int queueBound) {
    this.queueBound = queueBound;
    return this;
  }

  /** See {@link LockOptions.Builder#maxHandOffs}. */
  public int getMaxHandOffs() {
    return maxHandOffs;
  }

  /** Sets {@link #getMaxHandOffs()}. */
  public RedlockOptions setMaxHandOffs(int maxHandOffs) {
    this.maxHandOffs = maxHandOffs;
    return this;
  }

  /** See {@link LockOptions.Builder#fair}. */
  public boolean isFair() {
    return fair;
  }

  /** Sets {@link #isFair()}. */
  public RedlockOptions setFair(boolean fair) {
    this.fair = fair;
    return this;
  }

  /** See {@link LockOptions.Builder#lineTimeout}. */
  public long getLineTimeoutMillis() {
    return lineTimeoutMillis;
  }

  /** Sets {@link #getLineTimeoutMillis()}. */
  public RedlockOptions setLineTimeoutMillis(long lineTimeoutMillis) {
    this.lineTimeoutMillis = lineTimeoutMillis;
    return this;
  }

  /** See {@link LockOptions.Builder#pollInterval}. */
  public long getPollIntervalMillis() {
    return pollIntervalMillis;
  }

  /** Sets {@link #getPollIntervalMillis()}. */
  public RedlockOptions setPollIntervalMillis(long pollIntervalMillis) {
    this.pollIntervalMillis = pollIntervalMillis;
    return this;
  }

  /** Where releases are published on the event bus, and heard; null switches it off. */
  public @Nullable String getReleaseAddress() {
    return releaseAddress;
  }

  /** Sets {@link #getReleaseAddress()}. */
  public RedlockOptions setReleaseAddress(@Nullable String releaseAddress) {
    this.releaseAddress = releaseAddress;
    return this;
  }

  /**
   * Whether each name has an address of its own, {@code <releaseAddress>.<name>}. Default false:
   * all share one and filter, since each address is a registration in the whole cluster.
   */
  public boolean isAddressPerName() {
    return addressPerName;
  }

  /** Sets {@link #isAddressPerName()}. */
  public RedlockOptions setAddressPerName(boolean addressPerName) {
    this.addressPerName = addressPerName;
    return this;
  }

  /**
   * Whether what the nodes push to this client is published for the other members of the Vert.x
   * cluster.
   */
  public boolean isBridgeRedisHints() {
    return bridgeRedisHints;
  }

  /** Sets {@link #isBridgeRedisHints()}. */
  public RedlockOptions setBridgeRedisHints(boolean bridgeRedisHints) {
    this.bridgeRedisHints = bridgeRedisHints;
    return this;
  }

  /** Where life-cycle events are published; null, the default, switches them off. */
  public @Nullable String getEventAddress() {
    return eventAddress;
  }

  /** Sets {@link #getEventAddress()}. */
  public RedlockOptions setEventAddress(@Nullable String eventAddress) {
    this.eventAddress = eventAddress;
    return this;
  }

  /**
   * Whether messages stay within this Vert.x instance. Null, the default: unless Vert.x is
   * clustered.
   */
  public @Nullable Boolean getLocalOnly() {
    return localOnly;
  }

  /** Sets {@link #getLocalOnly()}. */
  public RedlockOptions setLocalOnly(@Nullable Boolean localOnly) {
    this.localOnly = localOnly;
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

  /** Without the nodes, which may hold passwords. */
  @Override
  public String toString() {
    JsonObject json = toJson();
    json.put("nodes", nodes.size());
    return "RedlockOptions" + json.encode();
  }

  /** Reads JSON fields, and says which one does not fit. */
  private record Fields(JsonObject json) {

    List<String> strings(String field) {
      Object value = json.getValue(field);
      if (value == null) {
        return List.of();
      }
      if (value instanceof JsonArray array && array.stream().allMatch(String.class::isInstance)) {
        return array.stream().map(String.class::cast).toList();
      }
      throw unfit(field, "a list of strings");
    }

    @Nullable String stringOrNull(String field, @Nullable String otherwise) {
      if (!json.containsKey(field)) {
        return otherwise;
      }
      Object value = json.getValue(field);
      if (value == null || (value instanceof String s && !s.isEmpty())) {
        return (String) value;
      }
      throw unfit(field, "a string that is not empty, or null");
    }

    String string(String field, String otherwise) {
      if (json.containsKey(field) && !(json.getValue(field) instanceof String)) {
        throw unfit(field, "a string");
      }
      return json.getString(field, otherwise);
    }

    @Nullable Long wholeOrNull(String field, @Nullable Long otherwise) {
      Object value = json.getValue(field);
      if (value == null) {
        return json.containsKey(field) ? null : otherwise;
      }
      return whole(field, 0);
    }

    long whole(String field, long otherwise) {
      if (!json.containsKey(field)) {
        return otherwise;
      }
      Object value = json.getValue(field);
      if (value instanceof Integer || value instanceof Long) {
        return ((Number) value).longValue();
      }
      throw unfit(field, "a whole number");
    }

    int small(String field, int otherwise) {
      long value = whole(field, otherwise);
      if (value != (int) value) {
        throw unfit(field, "a whole number below 2^31");
      }
      return (int) value;
    }

    @Nullable Boolean flagOrNull(String field, @Nullable Boolean otherwise) {
      if (!json.containsKey(field)) {
        return otherwise;
      }
      Object value = json.getValue(field);
      if (value == null || value instanceof Boolean) {
        return (Boolean) value;
      }
      throw unfit(field, "true, false or null");
    }

    boolean flag(String field, boolean otherwise) {
      if (json.containsKey(field) && !(json.getValue(field) instanceof Boolean)) {
        throw unfit(field, "true or false");
      }
      return json.getBoolean(field, otherwise);
    }

    private IllegalArgumentException unfit(String field, String wanted) {
      // A node's URI may hold a password.
      Object shown = field.equals("nodes") ? "something else" : json.getValue(field);
      return new IllegalArgumentException(field + " must be " + wanted + ", was " + shown);
    }
  }
}
