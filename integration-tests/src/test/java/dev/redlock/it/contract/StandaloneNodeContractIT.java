package dev.redlock.it.contract;

import dev.redlock.testkit.RedisNodes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** The contract, on one Redis master reached by Lettuce. */
class StandaloneNodeContractIT {
  private static RedisNodes nodes;
  private static NodeUnderTest server;

  @BeforeAll
  static void startServer() {
    nodes = RedisNodes.start(1);
    server = new ServerUnderTest(nodes.get(0));
  }

  @AfterAll
  static void stopServer() {
    nodes.close();
  }

  @Nested
  class Acquire extends AcquireContract {
    @Override
    NodeUnderTest server() {
      return server;
    }
  }

  @Nested
  class ExtendRelease extends ExtendReleaseContract {
    @Override
    NodeUnderTest server() {
      return server;
    }
  }

  @Nested
  class InLine extends LineContract {
    @Override
    NodeUnderTest server() {
      return server;
    }
  }

  @Nested
  class Pushes extends PushContract {
    @Override
    NodeUnderTest server() {
      return server;
    }
  }

  @Nested
  class Connection extends ConnectionContract {
    @Override
    NodeUnderTest server() {
      return server;
    }
  }
}
