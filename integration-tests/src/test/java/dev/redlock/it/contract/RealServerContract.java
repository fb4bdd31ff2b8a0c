package dev.redlock.it.contract;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** The whole contract, on one Redis master of some kind reached by Lettuce. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RealServerContract extends WholeContract {
  private RedisNodes nodes;
  private NodeUnderTest server;

  /** Starts the server, or aborts the tests with the reason why it is not available. */
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

  @Override
  NodeUnderTest server() {
    return server;
  }
}
