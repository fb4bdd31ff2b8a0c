package dev.redlock.it.contract;

import dev.redlock.it.OnContainers;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisSource;

/** The contract, on a container; what is killed and paused is the container. */
@OnContainers
class ContainerNodeContractIT extends RealServerContract {
  @Override
  RedisNodes startServer() {
    return RedisNodes.builder().count(1).source(RedisSource.DOCKER).start();
  }
}
