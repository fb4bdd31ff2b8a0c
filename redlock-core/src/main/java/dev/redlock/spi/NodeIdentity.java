package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.text.Printable;

/**
 * The facts that a server reported about itself when the client probed its connection.
 *
 * @param runId changes with every start of the server; for a whole cluster the smallest of its
 *     nodes' run ids
 * @param product {@code redis} or {@code valkey}
 * @param version the version of the product
 * @param uptimeSeconds whole seconds since the start, on the node's wall clock; -1 if the server
 *     does not report it
 * @param role {@code master} or {@code slave}; {@code cluster} for a whole cluster that acts as one
 *     node
 * @param clusterEnabled whether it is a node of a Redis Cluster
 * @param maxmemoryPolicy what the server evicts when memory runs out; locks need {@code noeviction}
 * @param replicationId the same for a master and its replicas
 * @param connectedReplicas the number of attached replicas
 * @param appendOnly whether it writes an append-only file
 * @param appendFsync how it syncs that file: {@code always}, {@code everysec} or {@code no}; empty
 *     if unknown
 * @param evictedKeys the number of keys evicted since its start
 * @param writeTrouble the failure of its last write to disk; empty if there is none
 * @param promoted whether it is a master with the replication history of another master: it was a
 *     replica of that master and was promoted, or it restarted from a snapshot with such a history.
 *     Redis clears this after one hour without replicas ({@code repl-backlog-ttl})
 * @param usedMemory memory in use, in bytes; 0 if unknown
 * @param maxMemory the configured limit of memory, in bytes; 0 if unlimited or unknown
 * @param otherDatabases the other databases of the server that have locks with the same key prefix,
 *     separated by commas; empty if there is none, or unknown
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
    String writeTrouble,
    boolean promoted,
    long usedMemory,
    long maxMemory,
    String otherDatabases) {

  public NodeIdentity {
    // These texts of the server go to the log.
    requireNonNull(runId, "runId");
    product = Printable.of(requireNonNull(product, "product"));
    version = Printable.of(requireNonNull(version, "version"));
    role = Printable.of(requireNonNull(role, "role"));
    maxmemoryPolicy = Printable.of(requireNonNull(maxmemoryPolicy, "maxmemoryPolicy"));
    requireNonNull(replicationId, "replicationId");
    appendFsync = Printable.of(requireNonNull(appendFsync, "appendFsync"));
    writeTrouble = Printable.of(requireNonNull(writeTrouble, "writeTrouble"));
  }

  /**
   * The same identity with what {@code INFO} does not report: the sync policy of the append-only
   * file, and the other databases that have locks.
   */
  public NodeIdentity asked(String policy, String databases) {
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
        writeTrouble,
        promoted,
        usedMemory,
        maxMemory,
        databases);
  }

  /** Whether it is a replica, which never votes. */
  public boolean replica() {
    return !role.equals("master") && !wholeCluster();
  }

  /** Whether this is a whole Redis Cluster that acts as one node. */
  public boolean wholeCluster() {
    return role.equals("cluster");
  }
}
