package dev.redlock.vertx.internal;

import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * One message about one name on the event bus. It contains no lease id: a member that reads the bus
 * must not be able to release the lease.
 *
 * @param token {@link Type#RELEASED} and {@link Type#LOST}: the fencing token of the lease that
 *     ended; 0 if unknown
 * @param to {@link Type#WAITING} and {@link Type#IDLE}: the address of the client that waits; empty
 *     otherwise
 */
record BusHint(Type type, String name, long token, String to) {
  private static final int VERSION = 2;
  private static final int MAX_TEXT = 1_024;

  /** What happened. The ends of a lease are in rising order of importance for waiters. */
  enum Type {
    /** The client at this address waits for the name. */
    WAITING("waiting"),
    /** It does not wait any more. */
    IDLE("idle"),
    /** The lease was lost or has expired. */
    LOST("lost"),
    /** The lock was released. */
    RELEASED("released");

    private final String text;

    Type(String text) {
      this.text = text;
    }
  }

  static BusHint ended(Type type, String name, long token) {
    return new BusHint(type, name, token, "");
  }

  JsonObject toJson(long nowMillis) {
    JsonObject json =
        new JsonObject()
            .put("v", VERSION)
            .put("type", type.text)
            .put("name", name)
            .put("at", nowMillis);
    return to.isEmpty() ? json.put("token", token) : json.put("to", to);
  }

  /** Merges two ends of a name: the more important type, and the higher token. */
  BusHint and(BusHint other) {
    return ended(
        type.compareTo(other.type) >= 0 ? type : other.type, name, Math.max(token, other.token));
  }

  /** Parses a message body that any member may have sent; null if it is no such message. */
  static @Nullable BusHint parse(@Nullable Object body) {
    if (!(body instanceof JsonObject json)
        || !Integer.valueOf(VERSION).equals(json.getValue("v"))
        || !(json.getValue("name") instanceof String name)
        || !(json.getValue("type") instanceof String text)) {
      return null;
    }
    long token = json.getValue("token") instanceof Long given ? given : 0;
    String to = json.getValue("to") instanceof String given ? given : "";
    if (name.length() > MAX_TEXT || to.length() > MAX_TEXT) {
      return null;
    }
    for (Type type : Type.values()) {
      if (type.text.equals(text)) {
        return new BusHint(type, name, token, to);
      }
    }
    return null;
  }
}
