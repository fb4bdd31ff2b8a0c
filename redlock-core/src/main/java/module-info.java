/** Redlock quorum locks over independent Redis masters, without a client of Redis. */
@SuppressWarnings("module") // The friends below are built after this module.
module dev.redlock.core {
  requires transitive org.jspecify;
  requires org.slf4j;
  requires com.google.common;

  exports dev.redlock;
  exports dev.redlock.operations;
  exports dev.redlock.spi;
  // The port of elections to the client.
  exports dev.redlock.internal.election to
      dev.redlock.election;
  // The port of the methods for operators to the client, and the values of which they speak.
  exports dev.redlock.internal.operations to
      dev.redlock.operations;
  exports dev.redlock.internal.sets to
      dev.redlock.operations;
  // All modules write times and foreign text in messages in the same way.
  exports dev.redlock.internal.text to
      dev.redlock.cluster,
      dev.redlock.election,
      dev.redlock.lettuce,
      dev.redlock.operations,
      dev.redlock.redis,
      dev.redlock.spring,
      dev.redlock.testkit,
      dev.redlock.vertx;

  uses dev.redlock.internal.operations.OperatorClient.Factory;
  uses dev.redlock.spi.LockNode.Factory;
}
