package dev.redlock.cluster;

/**
 * How a release is told to those who wait in other processes, besides the pushes of the masters
 * ({@code CLIENT TRACKING}), which come anyway where the user may have them. Sent by the release
 * script itself, so a release costs one command whatever is chosen. All are hints: lost, late or
 * forged ones cost time at most. The same for all clients of a cluster.
 */
public enum ReleaseNotices {
  /**
   * The default: {@code SPUBLISH}, which reaches only those who wait for the name. Needs Redis 7.0;
   * on older servers nothing is told. Subscriptions are renewed after failovers and slot moves, and
   * looked after every few seconds.
   */
  SHARDED_PUBSUB,
  /**
   * {@code XADD} to a small stream per name, which is read again after a reconnect: a release while
   * a waiter was cut off is not missed. Needs pushes ({@code CLIENT TRACKING}), and costs a key per
   * name that lives as long as its fence, and one command per release and waiting process.
   */
  STREAM,
  /**
   * {@code PUBLISH}: for servers before 7.0. Every node of the cluster is told of every release.
   */
  PUBSUB,
  /** Only the pushes of the masters. */
  NONE
}
