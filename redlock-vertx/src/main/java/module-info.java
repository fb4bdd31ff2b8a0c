/** Redlock quorum locks for Vert.x: futures on the caller's context, notices on the event bus. */
module dev.redlock.vertx {
  requires transitive dev.redlock.core;
  requires transitive io.vertx.core;
  requires static transitive io.vertx.healthcheck;
  requires io.netty.common;
  requires io.netty.transport;
  requires org.slf4j;
  requires transitive org.jspecify;

  exports dev.redlock.vertx;
}
