/** Redlock quorum locks over independent Redis masters. */
@SuppressWarnings("module") // The friends below are built after this module.
module dev.redlock.core {
  requires transitive org.jspecify;
  requires org.slf4j;
  requires com.google.common;
  requires transitive lettuce.core;
  requires io.netty.common;
  requires io.netty.transport;
  requires io.netty.buffer;
  requires io.netty.handler;

  exports dev.redlock;
  exports dev.redlock.spi;
  exports dev.redlock.lettuce;
  // The cluster adapter speaks over the same probed connections and scripts.
  exports dev.redlock.lettuce.internal to
      dev.redlock.cluster;
  exports dev.redlock.internal.scripts to
      dev.redlock.cluster;
  // The in-memory node of the test kit is the executable specification of the scripts.
  exports dev.redlock.internal.memory to
      dev.redlock.testkit;
}
