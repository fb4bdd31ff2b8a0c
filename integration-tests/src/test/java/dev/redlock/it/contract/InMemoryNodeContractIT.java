package dev.redlock.it.contract;

import dev.redlock.harness.memory.MemoryServerUnderTest;

/** The contract on the in-memory node: the model replies like the scripts. */
class InMemoryNodeContractIT extends WholeContract {
  private static final NodeUnderTest SERVER = new MemoryServerUnderTest();

  @Override
  NodeUnderTest server() {
    return SERVER;
  }
}
