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
  // Lettuce's resources name its classes; an automatic module cannot ask for it.
  requires io.netty.resolver.dns;
  // Events for the Flight Recorder, in a runtime that has it.
  requires static jdk.jfr;

  exports dev.redlock;
  exports dev.redlock.spi;
  exports dev.redlock.lettuce;
  // The cluster adapter uses the same probed connections and scripts. The in-memory node of the
  // test kit uses the same connection states.
  exports dev.redlock.lettuce.internal to
      dev.redlock.cluster,
      dev.redlock.testkit;
  exports dev.redlock.internal.scripts to
      dev.redlock.cluster;
}
