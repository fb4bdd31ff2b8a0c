package dev.redlock.cluster.internal;

import dev.redlock.lettuce.internal.ThreadSharingClient;
import dev.redlock.spi.Time;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;

/** What the hint carriers need from the cluster. */
interface ClusterAccess {

  /**
   * The client for connections beside the probed ones. These connections never reconnect by
   * themselves.
   */
  ThreadSharingClient sideClient();

  RedisURI uriOf(Address address);

  /** The link to the master of a slot; null if no master is known to serve it. */
  @Nullable MasterLink linkOf(int slot);

  /** Reports a sign that the known topology is wrong. */
  void topologyDoubtful();

  /** Delivers a release hint to the waiters of this process. */
  void mayBeFree(String lockKey);

  Time time();
}
