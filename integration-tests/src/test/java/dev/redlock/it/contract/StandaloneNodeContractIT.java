package dev.redlock.it.contract;

import dev.redlock.testkit.RedisNodes;

/** The contract on the available Redis, as a user with all permissions. */
class StandaloneNodeContractIT extends RealServerContract {
  @Override
  RedisNodes startServer() {
    return RedisNodes.start(1);
  }
}
