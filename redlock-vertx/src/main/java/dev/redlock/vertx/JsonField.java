package dev.redlock.vertx;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The JSON fields of {@link RedlockOptions}, with their kinds and defaults. */
enum JsonField {
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

  private static final Logger log = LoggerFactory.getLogger(RedlockOptions.class);

  /** The name in JSON. */
  final String key;

  private final Kind kind;

  @SuppressWarnings("ImmutableEnumChecker") // Immutable, except the list, which is copied.
  private final @Nullable Object initial;

  JsonField(String key, Kind kind, @Nullable Object initial) {
    this.key = key;
    this.kind = kind;
    this.initial = initial;
  }

  /** All fields, with their defaults. */
  static JsonObject defaults() {
    JsonObject json = new JsonObject();
    for (JsonField field : values()) {
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
    for (JsonField field : values()) {
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
