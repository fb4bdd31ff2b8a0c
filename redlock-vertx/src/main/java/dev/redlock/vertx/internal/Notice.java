package dev.redlock.vertx.internal;

import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * What is told on the bus about one name. Holds no lease id: whoever reads the bus must not be able
 * to release.
 *
 * @param token of the lease that ended; 0 if unknown
 */
record Notice(Type type, String name, long token) {
  private static final int VERSION = 1;

  /** What happened, the more worth a wake-up the later in this list. */
  enum Type {
    HANDED_OFF("handedOff"),
    HINT("hint"),
    LOST("lost"),
    RELEASED("released");

    private final String text;

    Type(String text) {
      this.text = text;
    }

    /** Whether the name may be free. */
    boolean wakes() {
      return this != HANDED_OFF;
    }
  }

  JsonObject toJson(long nowMillis) {
    return new JsonObject()
        .put("v", VERSION)
        .put("type", type.text)
        .put("name", name)
        .put("mode", "quorum")
        .put("token", token)
        .put("at", nowMillis);
  }

  /** What both say: the stronger of the two, of the later lease. */
  Notice and(Notice other) {
    return new Notice(
        type.compareTo(other.type) >= 0 ? type : other.type, name, Math.max(token, other.token));
  }

  /** Reads what anybody may have sent; null if it is none of ours. */
  static @Nullable Notice parse(@Nullable Object body) {
    if (!(body instanceof JsonObject json)
        || !Integer.valueOf(VERSION).equals(json.getValue("v"))
        || !(json.getValue("name") instanceof String name)
        || !(json.getValue("type") instanceof String text)) {
      return null;
    }
    for (Type type : Type.values()) {
      if (type.text.equals(text)) {
        return new Notice(type, name, json.getValue("token") instanceof Long token ? token : 0);
      }
    }
    return null;
  }
}
