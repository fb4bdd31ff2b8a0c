/** Nodes of the lock that are Redis masters behind Lettuce. */
@SuppressWarnings("module") // The friends below are built after this module.
module dev.redlock.lettuce {
  requires transitive dev.redlock.core;
  requires transitive org.jspecify;
  requires transitive lettuce.core;
  requires dev.redlock.redis;
  requires org.slf4j;
  requires com.google.common;
  requires io.netty.common;
  requires io.netty.transport;
  requires io.netty.buffer;
  requires io.netty.handler;
  requires io.netty.resolver;
  requires org.reactivestreams;
  requires reactor.core;
  // Lettuce's resources name its classes; an automatic module cannot ask for it.
  requires io.netty.resolver.dns;

  exports dev.redlock.lettuce;
  // The cluster adapter uses the same probed connections, Vert.x the same files for TLS.
  exports dev.redlock.lettuce.internal to
      dev.redlock.cluster,
      dev.redlock.vertx;

  provides dev.redlock.spi.LockNode.Factory with
      dev.redlock.lettuce.internal.LettuceNodeFactory;
}
