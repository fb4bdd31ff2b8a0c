package dev.redlock.it;

import dev.redlock.Redlock;
import dev.redlock.testkit.RedisNodes;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tests that each have a client of their own. */
public abstract class OneClient {
  protected final RedisNodes nodes;
  private final Function<RedisNodes, Redlock> connect;
  protected Redlock redlock;

  protected OneClient(RedisNodes nodes, Function<RedisNodes, Redlock> connect) {
    this.nodes = nodes;
    this.connect = connect;
  }

  @BeforeEach
  protected final void connect() {
    redlock = connect.apply(nodes);
  }

  @AfterEach
  protected final void disconnect() {
    redlock.close();
  }
}
