package dev.redlock.cluster;

/**
 * The carrier of release hints between processes, in addition to the invalidations that masters
 * send if the user may use {@code CLIENT TRACKING}. The release script itself publishes the hint,
 * so a release is one command with every carrier. A hint that is lost, late or forged costs only
 * time. All clients of one cluster must use the same carrier.
 */
public enum ClusterReleaseHints {
  /**
   * The default: {@code SPUBLISH}. Only clients that wait for the name receive the hint. Needs
   * Redis 7.0; an older server publishes nothing. The client renews its subscriptions after a
   * failover and after a slot move, and checks them every 2 s.
   */
  SHARDED_PUBSUB,
  /**
   * {@code XADD} to a small stream per name. The client reads the stream again after a reconnect,
   * so a waiter that was cut off still sees each release. Needs invalidations ({@code CLIENT
   * TRACKING}). Costs one key per name, which expires with the fence, and one more command per
   * release and waiting process.
   */
  STREAM,
  /**
   * {@code PUBLISH}, for servers before Redis 7.0. Every node of the cluster receives every hint.
   */
  PUBSUB,
  /** No hints; only the invalidations of the masters. */
  NONE
}
