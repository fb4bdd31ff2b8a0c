package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a server said about itself when its connection was probed.
 *
 * @param runId changes with every start of the server; of a whole cluster the least of its nodes'
 *     ids
 * @param product {@code redis} or {@code valkey}
 * @param version as the product counts it
 * @param uptimeSeconds whole seconds since the start, by the node's wall clock
 * @param role {@code master} or {@code slave}; {@code cluster} for a whole cluster seen as one node
 * @param clusterEnabled whether it is a node of a Redis Cluster
 * @param maxmemoryPolicy what is evicted when memory runs out; {@code noeviction} is right for
 *     locks
 * @param replicationId shared by a master and its replicas
 * @param connectedReplicas how many replicas are attached
 * @param appendOnly whether it keeps an append-only file
 * @param appendFsync how it syncs that: {@code always}, {@code everysec} or {@code no}; empty where
 *     nobody asked or this user may not
 * @param evictedKeys how many keys it has evicted since its start
 * @param writeTrouble what it says of its last write to disk if that failed; empty if all is well
 */
public record NodeIdentity(
    String runId,
    String product,
    String version,
    long uptimeSeconds,
    String role,
    boolean clusterEnabled,
    String maxmemoryPolicy,
    String replicationId,
    int connectedReplicas,
    boolean appendOnly,
    String appendFsync,
    long evictedKeys,
    String writeTrouble) {

  public NodeIdentity {
    requireNonNull(runId, "runId");
    requireNonNull(product, "product");
    requireNonNull(version, "version");
    requireNonNull(role, "role");
    requireNonNull(maxmemoryPolicy, "maxmemoryPolicy");
    requireNonNull(replicationId, "replicationId");
    requireNonNull(appendFsync, "appendFsync");
    requireNonNull(writeTrouble, "writeTrouble");
  }

  /** The same, with how the append-only file is synced, which {@code INFO} does not tell. */
  public NodeIdentity withAppendFsync(String policy) {
    return new NodeIdentity(
        runId,
        product,
        version,
        uptimeSeconds,
        role,
        clusterEnabled,
        maxmemoryPolicy,
        replicationId,
        connectedReplicas,
        appendOnly,
        policy,
        evictedKeys,
        writeTrouble);
  }

  /** Whether it is a replica, which never votes. */
  public boolean replica() {
    return !role.equals("master") && !wholeCluster();
  }

  /** Whether this is a whole Redis Cluster, seen as one node. */
  public boolean wholeCluster() {
    return role.equals("cluster");
  }

  /** Reads the answer to {@code INFO}; null if it does not name a run. */
  public static @Nullable NodeIdentity parse(String info) {
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
        number(fields.get("uptime_in_seconds")),
        fields.getOrDefault("role", "master"),
        "1".equals(fields.get("cluster_enabled")),
        fields.getOrDefault("maxmemory_policy", "unknown"),
        fields.getOrDefault("master_replid", ""),
        (int) number(fields.get("connected_slaves")),
        "1".equals(fields.get("aof_enabled")),
        "",
        number(fields.get("evicted_keys")),
        writeTrouble(fields));
  }

  private static String writeTrouble(Map<String, String> fields) {
    if ("err".equals(fields.get("aof_last_write_status"))) {
      return "its append-only file could not be written";
    }
    return "err".equals(fields.get("rdb_last_bgsave_status"))
        ? "its last snapshot could not be written, and it may refuse writes for that"
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
