/** Redlock for Vert.x: futures on the caller's context, release hints on the event bus. */
module dev.redlock.vertx {
  requires transitive dev.redlock.core;
  requires transitive dev.redlock.election;
  requires dev.redlock.lettuce;
  requires transitive io.vertx.core;
  requires static transitive io.vertx.healthcheck;
  requires static dev.redlock.cluster;
  requires static io.vertx.codegen.api;
  requires lettuce.core;
  requires io.netty.common;
  requires io.netty.transport;
  requires org.slf4j;
  requires transitive org.jspecify;

  exports dev.redlock.vertx;
}
