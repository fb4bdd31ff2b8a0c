package dev.redlock.it.contract;

import dev.redlock.testkit.RedisNodes;

/** The contract, on whichever Redis there is, as a user who may do everything. */
class StandaloneNodeContractIT extends RealServerContract {
  @Override
  RedisNodes startServer() {
    return RedisNodes.start(1);
  }
}
