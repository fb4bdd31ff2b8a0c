/** A node of the lock that is one Redis Cluster. */
module dev.redlock.cluster {
  requires transitive dev.redlock.core;
  requires transitive dev.redlock.lettuce;
  requires dev.redlock.redis;
  requires transitive org.jspecify;
  requires lettuce.core;
  requires io.netty.common;
  requires org.slf4j;

  exports dev.redlock.cluster;
}
