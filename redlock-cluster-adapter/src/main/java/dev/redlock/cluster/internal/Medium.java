package dev.redlock.cluster.internal;

import dev.redlock.spi.Time;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;

/** What notices and confirmations need of the cluster. */
interface Medium {

  /** For connections beside the probed ones: they reconnect never by themselves. */
  RedisClient sideClient();

  RedisURI uriOf(Address address);

  /** The link to the master of a slot; null if nobody is known to serve it. */
  @Nullable MasterLink linkOf(int slot);

  /** Something suggests that slots are elsewhere than we think. */
  void topologyDoubtful();

  /** Tells whoever waits for this lock here that it may be free. */
  void mayBeFree(String lockKey);

  Time time();
}
