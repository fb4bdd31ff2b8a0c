package dev.redlock.it.contract;

import dev.redlock.it.LeastUser;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisStartException;

/** The contract, as the user of the operations page. */
class LeastUserContractIT extends RealServerContract {
  @Override
  RedisNodes startServer() {
    try {
      return RedisNodes.builder().count(1).serverArgs(LeastUser.serverArgs()).start();
    } catch (RedisStartException e) {
      return RedisNodes.builder().count(1).serverArgs(LeastUser.serverArgsOfRedis6()).start();
    }
  }

  @Override
  String uri(RedisNode node) {
    return LeastUser.uri(node);
  }
}
