package dev.redlock.vertx;

import dev.redlock.LockOptions;
import dev.redlock.spi.HolderMark;
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
  private static final Set<String> SECRETS = Set.of("nodes", "password");

  private final List<String> nodes = new ArrayList<>();
  private boolean cluster;
  private @Nullable String username;
  private @Nullable String password;
  private @Nullable String trustCertificatePath;
  private @Nullable String clientCertificatePath;
  private @Nullable String clientKeyPath;
  private String keyPrefix = "redlock";
  private String label = "";
  private @Nullable Long maxLeaseTimeMillis;
  private String restartGuard = "uptime";
  private @Nullable Long leaseTimeMillis;
  private @Nullable Long driftMillis;
  private @Nullable Long nodeTimeoutMillis;
  private boolean autoExtend = true;
  private @Nullable Long holdCapMillis;
  private long minimumHoldMillis;
  private int queueBound = 1000;
  private int maxHandOffs = 16;
  private boolean fair;
  private boolean majorityFirst;
  private long pollIntervalMillis = 1_000;
  private long closeGraceMillis = 10_000;
  private String releaseHints = "auto";
  private String releaseAddress = "redlock.released";
  private boolean bridgeRedisHints;
  private @Nullable String eventAddress;
  private @Nullable String memberName;
  private @Nullable Boolean localOnly;

  /** Creates options with all defaults and no nodes. */
  public RedlockOptions() {}

  /** Creates a copy. */
  public RedlockOptions(RedlockOptions other) {
    nodes.addAll(other.nodes);
    cluster = other.cluster;
    username = other.username;
    password = other.password;
    trustCertificatePath = other.trustCertificatePath;
    clientCertificatePath = other.clientCertificatePath;
    clientKeyPath = other.clientKeyPath;
    keyPrefix = other.keyPrefix;
    label = other.label;
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
    majorityFirst = other.majorityFirst;
    pollIntervalMillis = other.pollIntervalMillis;
    closeGraceMillis = other.closeGraceMillis;
    releaseHints = other.releaseHints;
    releaseAddress = other.releaseAddress;
    bridgeRedisHints = other.bridgeRedisHints;
    eventAddress = other.eventAddress;
    memberName = other.memberName;
    localOnly = other.localOnly;
  }

  /**
   * Creates options from JSON. A field that the JSON does not contain has its default.
   *
   * @throws IllegalArgumentException if a field is invalid; the message names it
   */
  public RedlockOptions(JsonObject json) {
    Set<String> known = new TreeSet<>(toJson().fieldNames());
    Set<String> unknown = new TreeSet<>(json.fieldNames());
    unknown.removeAll(known);
    if (!unknown.isEmpty()) {
      log.warn("unknown fields {} are ignored; known fields are {}", unknown, known);
    }
    Fields fields = new Fields(json);
    nodes.addAll(fields.strings("nodes"));
    cluster = fields.flag("cluster", cluster);
    username = fields.stringOrNull("username", username);
    password = fields.stringOrNull("password", password);
    trustCertificatePath = fields.stringOrNull("trustCertificatePath", trustCertificatePath);
    clientCertificatePath = fields.stringOrNull("clientCertificatePath", clientCertificatePath);
    clientKeyPath = fields.stringOrNull("clientKeyPath", clientKeyPath);
    keyPrefix = fields.string("keyPrefix", keyPrefix);
    setLabel(fields.string("label", label));
    maxLeaseTimeMillis = fields.wholeOrNull("maxLeaseTimeMillis", maxLeaseTimeMillis);
    restartGuard = fields.string("restartGuard", restartGuard);
    leaseTimeMillis = fields.wholeOrNull("leaseTimeMillis", leaseTimeMillis);
    driftMillis = fields.wholeOrNull("driftMillis", driftMillis);
    nodeTimeoutMillis = fields.wholeOrNull("nodeTimeoutMillis", nodeTimeoutMillis);
    autoExtend = fields.flag("autoExtend", autoExtend);
    holdCapMillis = fields.wholeOrNull("holdCapMillis", holdCapMillis);
    minimumHoldMillis = fields.whole("minimumHoldMillis", minimumHoldMillis);
    queueBound = fields.small("queueBound", queueBound);
    maxHandOffs = fields.small("maxHandOffs", maxHandOffs);
    fair = fields.flag("fair", fair);
    majorityFirst = fields.flag("majorityFirst", majorityFirst);
    pollIntervalMillis = fields.whole("pollIntervalMillis", pollIntervalMillis);
    setCloseGraceMillis(fields.whole("closeGraceMillis", closeGraceMillis));
    setReleaseHints(fields.string("releaseHints", releaseHints));
    setReleaseAddress(fields.string("releaseAddress", releaseAddress));
    bridgeRedisHints = fields.flag("bridgeRedisHints", bridgeRedisHints);
    eventAddress = fields.stringOrNull("eventAddress", eventAddress);
    memberName = fields.stringOrNull("memberName", memberName);
    localOnly = fields.flagOrNull("localOnly", localOnly);
    lockOptions();
    guard();
  }

  /** All fields; {@code new RedlockOptions(o.toJson())} equals {@code o}. */
  public JsonObject toJson() {
    return new JsonObject()
        .put("nodes", new JsonArray(new ArrayList<>(nodes)))
        .put("cluster", cluster)
        .put("username", username)
        .put("password", password)
        .put("trustCertificatePath", trustCertificatePath)
        .put("clientCertificatePath", clientCertificatePath)
        .put("clientKeyPath", clientKeyPath)
        .put("keyPrefix", keyPrefix)
        .put("label", label)
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
        .put("majorityFirst", majorityFirst)
        .put("pollIntervalMillis", pollIntervalMillis)
        .put("closeGraceMillis", closeGraceMillis)
        .put("releaseHints", releaseHints)
        .put("releaseAddress", releaseAddress)
        .put("bridgeRedisHints", bridgeRedisHints)
        .put("eventAddress", eventAddress)
        .put("memberName", memberName)
        .put("localOnly", localOnly);
  }

  /** Returns the default options of every lock. */
  public LockOptions lockOptions() {
    LockOptions.Builder b =
        LockOptions.builder()
            .autoExtend(autoExtend)
            .minimumHold(Duration.ofMillis(minimumHoldMillis))
            .queueBound(queueBound)
            .maxHandOffs(maxHandOffs)
            .fair(fair)
            .majorityFirst(majorityFirst)
            .pollInterval(Duration.ofMillis(pollIntervalMillis));
    Long holdCap = holdCapMillis;
    if (holdCap != null) {
      b.holdCap(Duration.ofMillis(holdCap));
    }
    Long leaseTime = leaseTimeMillis;
    if (leaseTime != null) {
      b.leaseTime(Duration.ofMillis(leaseTime));
    }
    Long nodeTimeout = nodeTimeoutMillis;
    if (nodeTimeout != null) {
      b.nodeTimeout(Duration.ofMillis(nodeTimeout));
    }
    Long drift = driftMillis;
    if (drift != null) {
      b.drift(Duration.ofMillis(drift));
    }
    return b.build();
  }

  /**
   * Returns the restart guard that {@link #getRestartGuard()} names.
   *
   * @throws IllegalArgumentException if it names no restart guard
   */
  public RestartGuard guard() {
    return switch (restartGuard) {
      case "uptime" -> RestartGuard.UPTIME;
      case "marker" -> RestartGuard.MARKER;
      case "off" -> RestartGuard.OFF;
      default ->
          throw new IllegalArgumentException(
              "restartGuard must be uptime, marker or off, was " + restartGuard);
    };
  }

  /**
   * The URIs of the masters: {@code redis://user:password@host:port} or {@code rediss://…}. They
   * may contain passwords, and so may {@link #toJson()}.
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

  /**
   * Whether the nodes are masters of one Redis Cluster, which then acts as a single node. Default
   * false. Needs {@code redlock-cluster-adapter}.
   */
  public boolean isCluster() {
    return cluster;
  }

  /** Sets {@link #isCluster()}. */
  public RedlockOptions setCluster(boolean cluster) {
    this.cluster = cluster;
    return this;
  }

  /** The user for all nodes, together with {@link #getPassword()}. Null means the default user. */
  public @Nullable String getUsername() {
    return username;
  }

  /** Sets {@link #getUsername()}. */
  public RedlockOptions setUsername(@Nullable String username) {
    this.username = username;
    return this;
  }

  /** The password for all nodes. Null means the passwords in the URIs, if any. */
  public @Nullable String getPassword() {
    return password;
  }

  /** Sets {@link #getPassword()}. */
  public RedlockOptions setPassword(@Nullable String password) {
    this.password = password;
    return this;
  }

  /**
   * A PEM file with the certificates that are trusted for {@code rediss://}. Null means those of
   * the platform.
   */
  public @Nullable String getTrustCertificatePath() {
    return trustCertificatePath;
  }

  /** Sets {@link #getTrustCertificatePath()}. */
  public RedlockOptions setTrustCertificatePath(@Nullable String trustCertificatePath) {
    this.trustCertificatePath = trustCertificatePath;
    return this;
  }

  /** A PEM file with the certificate of this client; null if it has none. */
  public @Nullable String getClientCertificatePath() {
    return clientCertificatePath;
  }

  /** Sets {@link #getClientCertificatePath()}. */
  public RedlockOptions setClientCertificatePath(@Nullable String clientCertificatePath) {
    this.clientCertificatePath = clientCertificatePath;
    return this;
  }

  /** A PEM file with the PKCS #8 key of {@link #getClientCertificatePath()}, not encrypted. */
  public @Nullable String getClientKeyPath() {
    return clientKeyPath;
  }

  /** Sets {@link #getClientKeyPath()}. */
  public RedlockOptions setClientKeyPath(@Nullable String clientKeyPath) {
    this.clientKeyPath = clientKeyPath;
    return this;
  }

  /** The prefix of all keys; the same for all clients of a lock. */
  public String getKeyPrefix() {
    return keyPrefix;
  }

  /** Sets {@link #getKeyPrefix()}. */
  public RedlockOptions setKeyPrefix(String keyPrefix) {
    this.keyPrefix = Objects.requireNonNull(keyPrefix, "keyPrefix");
    return this;
  }

  /**
   * Shows people which client holds a lock; see {@link dev.redlock.RedlockBuilder#label}. At most
   * 64 bytes of printable UTF-8. Empty, the default, means host and process id.
   */
  public String getLabel() {
    return label;
  }

  /**
   * Sets {@link #getLabel()}.
   *
   * @throws IllegalArgumentException if it is too long, or contains characters that are not
   *     printable
   */
  public RedlockOptions setLabel(String label) {
    HolderMark.suffix(label);
    this.label = label;
    return this;
  }

  /**
   * The longest lease time of the deployment, the same for all clients of these nodes. Null means
   * 30 s, or the lease time if that is longer.
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
   * The rule that keeps a node that may have forgotten leases from voting: {@code uptime}, {@code
   * marker} or {@code off}.
   */
  public String getRestartGuard() {
    return restartGuard;
  }

  /** Sets {@link #getRestartGuard()}. */
  public RedlockOptions setRestartGuard(String restartGuard) {
    this.restartGuard = Objects.requireNonNull(restartGuard, "restartGuard");
    return this;
  }

  /**
   * See {@link LockOptions.Builder#leaseTime}. Null means 30 s, or the longest lease time if that
   * is shorter.
   */
  public @Nullable Long getLeaseTimeMillis() {
    return leaseTimeMillis;
  }

  /** Sets {@link #getLeaseTimeMillis()}. */
  @GenIgnore // The getter has another type: null means a default that follows.
  public RedlockOptions setLeaseTimeMillis(long leaseTimeMillis) {
    this.leaseTimeMillis = leaseTimeMillis;
    return this;
  }

  /** See {@link LockOptions.Builder#drift}. Null means 1/100 of the lease time + 2 ms. */
  public @Nullable Long getDriftMillis() {
    return driftMillis;
  }

  /** Sets {@link #getDriftMillis()}. */
  public RedlockOptions setDriftMillis(@Nullable Long driftMillis) {
    this.driftMillis = driftMillis;
    return this;
  }

  /**
   * See {@link LockOptions.Builder#nodeTimeout}. Null means 100 ms, or less for a short lease time.
   */
  public @Nullable Long getNodeTimeoutMillis() {
    return nodeTimeoutMillis;
  }

  /** Sets {@link #getNodeTimeoutMillis()}. */
  @GenIgnore // The getter has another type: null means a default that follows.
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

  /**
   * See {@link LockOptions.Builder#holdCap}. Null means 1 h for locks, and no cap for elections and
   * locked verticles.
   */
  public @Nullable Long getHoldCapMillis() {
    return holdCapMillis;
  }

  /** Sets {@link #getHoldCapMillis()}. */
  public RedlockOptions setHoldCapMillis(@Nullable Long holdCapMillis) {
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

  /** See {@link LockOptions.Builder#majorityFirst}. */
  public boolean isMajorityFirst() {
    return majorityFirst;
  }

  /** Sets {@link #isMajorityFirst()}. */
  public RedlockOptions setMajorityFirst(boolean majorityFirst) {
    this.majorityFirst = majorityFirst;
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

  /**
   * How long the body of a {@code withLock} may still run when its verticle was undeployed or the
   * client closes. The client keeps the lease of the body until then, and the undeployment or close
   * waits for it. After this time the client releases the lease and logs a warning with its name. A
   * close then waits as long for leases of {@link VertxRedlock#redlock}; see {@link
   * dev.redlock.Redlock#close(java.time.Duration)}. Default 10 s; with 0 the client does not wait.
   */
  public long getCloseGraceMillis() {
    return closeGraceMillis;
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
    this.closeGraceMillis = closeGraceMillis;
    return this;
  }

  /**
   * When this client uses release hints on the event bus. With {@code auto} (the default) it asks
   * other clients for hints only while no quorum of nodes notifies it of releases. With {@code
   * always} it asks in any case. With {@code auto} and {@code always} it also sends hints to
   * clients that ask. With {@code never} it neither asks nor sends.
   */
  public String getReleaseHints() {
    return releaseHints;
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
    this.releaseHints = releaseHints;
    return this;
  }

  /**
   * The event bus address at which clients say for which names they wait. Hints go to an address of
   * the waiting client, which begins with this address and a dot.
   */
  public String getReleaseAddress() {
    return releaseAddress;
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
    this.releaseAddress = releaseAddress;
    return this;
  }

  /**
   * Whether this client forwards the invalidations of the nodes to clients that asked for hints.
   * Default false.
   */
  public boolean isBridgeRedisHints() {
    return bridgeRedisHints;
  }

  /** Sets {@link #isBridgeRedisHints()}. */
  public RedlockOptions setBridgeRedisHints(boolean bridgeRedisHints) {
    this.bridgeRedisHints = bridgeRedisHints;
    return this;
  }

  /**
   * The event bus address at which life-cycle events are published; null (the default) switches
   * them off.
   */
  public @Nullable String getEventAddress() {
    return eventAddress;
  }

  /** Sets {@link #getEventAddress()}. */
  public RedlockOptions setEventAddress(@Nullable String eventAddress) {
    this.eventAddress = eventAddress;
    return this;
  }

  /** The name of this client in its life-cycle events. Null (the default) means a random name. */
  public @Nullable String getMemberName() {
    return memberName;
  }

  /** Sets {@link #getMemberName()}. */
  public RedlockOptions setMemberName(@Nullable String memberName) {
    this.memberName = memberName;
    return this;
  }

  /**
   * Whether messages stay within this Vert.x instance. Null (the default) means true unless Vert.x
   * is clustered.
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

  /** Shows the number of nodes only, because their URIs may contain passwords; no password. */
  @Override
  public String toString() {
    JsonObject json = toJson();
    json.put("nodes", nodes.size());
    json.put("password", password == null ? null : "***");
    return "RedlockOptions" + json.encode();
  }

  /** Reads JSON fields; an invalid field is named in the exception. */
  private record Fields(JsonObject json) {

    List<String> strings(String field) {
      Object value = json.getValue(field);
      if (value == null) {
        return List.of();
      }
      if (value instanceof JsonArray array && array.stream().allMatch(String.class::isInstance)) {
        return array.stream().map(String.class::cast).toList();
      }
      throw invalid(field, "a list of strings");
    }

    @Nullable String stringOrNull(String field, @Nullable String otherwise) {
      if (!json.containsKey(field)) {
        return otherwise;
      }
      Object value = json.getValue(field);
      if (value == null || (value instanceof String s && !s.isEmpty())) {
        return (String) value;
      }
      throw invalid(field, "a string that is not empty, or null");
    }

    String string(String field, String otherwise) {
      if (json.containsKey(field) && !(json.getValue(field) instanceof String)) {
        throw invalid(field, "a string");
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
      throw invalid(field, "a whole number");
    }

    int small(String field, int otherwise) {
      long value = whole(field, otherwise);
      if (value != (int) value) {
        throw invalid(field, "a whole number below 2^31");
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
      throw invalid(field, "true, false or null");
    }

    boolean flag(String field, boolean otherwise) {
      if (json.containsKey(field) && !(json.getValue(field) instanceof Boolean)) {
        throw invalid(field, "true or false");
      }
      return json.getBoolean(field, otherwise);
    }

    private IllegalArgumentException invalid(String field, String wanted) {
      // The URI of a node may contain a password too.
      Object shown = SECRETS.contains(field) ? "something else" : json.getValue(field);
      return new IllegalArgumentException(field + " must be " + wanted + ", was " + shown);
    }
  }
}
