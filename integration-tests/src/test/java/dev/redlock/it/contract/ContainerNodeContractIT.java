package dev.redlock.it.contract;

import dev.redlock.it.OnContainers;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisSource;
import org.junit.jupiter.api.Tag;

/** The contract on a container. Tests kill and pause the container. */
@OnContainers
@Tag("thorough")
class ContainerNodeContractIT extends RealServerContract {
  @Override
  RedisNodes startServer() {
    return RedisNodes.builder().count(1).source(RedisSource.DOCKER).start();
  }
}
