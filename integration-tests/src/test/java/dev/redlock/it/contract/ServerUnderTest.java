package dev.redlock.it.contract;

import dev.redlock.lettuce.LettuceLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.testkit.RedisNode;
import java.util.List;

/** A real server behind the standalone node. */
final class ServerUnderTest extends RedisUnderTest {
  private final String uri;

  /** Clients use the URI. */
  ServerUnderTest(RedisNode redis, String uri) {
    super(List.of(redis));
    this.uri = uri;
  }

  @Override
  RedisNode at(String key) {
    return masters.get(0);
  }

  @Override
  public LockNode newNode() {
    return LettuceLockNode.create(uri);
  }
}
