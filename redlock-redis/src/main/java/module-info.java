/** What adapters for Redis share: scripts, requests as bytes, replies, states of a connection. */
@SuppressWarnings("module") // The friends below are built after this module.
module dev.redlock.redis {
  requires transitive dev.redlock.core;
  requires org.slf4j;

  exports dev.redlock.redis.internal to
      dev.redlock.cluster,
      dev.redlock.lettuce;
  exports dev.redlock.redis.internal.scripts to
      dev.redlock.cluster,
      dev.redlock.lettuce;
}
