package dev.redlock.it.contract;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;

/** The whole contract, on one Redis master of some kind reached by Lettuce. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RealServerContract {
  private RedisNodes nodes;
  private NodeUnderTest server;

  /** Starts the one server, or aborts with the reason why there is none. */
  abstract RedisNodes startServer();

  /** The address that clients use. */
  String uri(RedisNode node) {
    return node.uri();
  }

  @BeforeAll
  void start() {
    nodes = startServer();
    server = new ServerUnderTest(nodes.get(0), uri(nodes.get(0)));
  }

  @AfterAll
  void stop() {
    if (nodes != null) {
      nodes.close();
    }
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
