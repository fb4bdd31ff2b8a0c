package dev.redlock.it.contract;

import dev.redlock.testkit.MemoryServerUnderTest;
import org.junit.jupiter.api.Nested;

/** The contract, on the in-memory node: the model answers as the scripts do. */
class InMemoryNodeContractIT {
  private static final NodeUnderTest SERVER = new MemoryServerUnderTest();

  @Nested
  class Acquire extends AcquireContract {
    @Override
    NodeUnderTest server() {
      return SERVER;
    }
  }

  @Nested
  class ExtendRelease extends ExtendReleaseContract {
    @Override
    NodeUnderTest server() {
      return SERVER;
    }
  }

  @Nested
  class InLine extends LineContract {
    @Override
    NodeUnderTest server() {
      return SERVER;
    }
  }

  @Nested
  class Pushes extends PushContract {
    @Override
    NodeUnderTest server() {
      return SERVER;
    }
  }

  @Nested
  class Connection extends ConnectionContract {
    @Override
    NodeUnderTest server() {
      return SERVER;
    }
  }
}
