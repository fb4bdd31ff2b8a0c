package dev.redlock.redis.internal;

import dev.redlock.spi.NodeIdentity;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the reply to {@code INFO}. */
public final class InfoReply {
  private static final String NO_REPLICATION = "0".repeat(40);

  private InfoReply() {}

  /** The identity of the server that replied this; null if the reply contains no run id. */
  public static @Nullable NodeIdentity identity(String info) {
    Map<String, String> fields = new HashMap<>();
    info.lines()
        .forEach(
            line -> {
              int colon = line.indexOf(':');
              if (colon > 0) {
                fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
              }
            });
    String runId = fields.get("run_id");
    if (runId == null) {
      return null;
    }
    String valkey = fields.get("valkey_version");
    return new NodeIdentity(
        runId,
        valkey == null ? "redis" : "valkey",
        valkey == null ? fields.getOrDefault("redis_version", "unknown") : valkey,
        fields.containsKey("uptime_in_seconds") ? number(fields.get("uptime_in_seconds")) : -1,
        fields.getOrDefault("role", "master"),
        "1".equals(fields.get("cluster_enabled")),
        fields.getOrDefault("maxmemory_policy", "unknown"),
        fields.getOrDefault("master_replid", ""),
        (int) number(fields.get("connected_slaves")),
        "1".equals(fields.get("aof_enabled")),
        "",
        number(fields.get("evicted_keys")),
        writeTrouble(fields),
        wasPromoted(fields),
        number(fields.get("used_memory")),
        number(fields.get("maxmemory")),
        "");
  }

  /** A promoted replica keeps its former master's replication id and the offset of the change. */
  private static boolean wasPromoted(Map<String, String> fields) {
    String second = fields.getOrDefault("master_replid2", NO_REPLICATION);
    return fields.getOrDefault("role", "master").equals("master")
        && !second.equals(NO_REPLICATION)
        && !fields.getOrDefault("second_repl_offset", "-1").startsWith("-");
  }

  private static String writeTrouble(Map<String, String> fields) {
    if ("err".equals(fields.get("aof_last_write_status"))) {
      return "its append-only file could not be written";
    }
    return "err".equals(fields.get("rdb_last_bgsave_status"))
        ? "its last snapshot could not be written, and it may reject writes for that reason"
        : "";
  }

  private static long number(@Nullable String text) {
    try {
      return text == null ? 0 : Long.parseLong(text);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
