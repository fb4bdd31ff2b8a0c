package dev.redlock.bench.system;

import java.util.List;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/**
 * The lock registry of Spring Integration on one node with pub/sub wake-up, the faster of its two
 * modes.
 */
final class SpringLocks implements LockClient {
  private final LettuceConnectionFactory connections;
  private final RedisLockRegistry registry;

  private SpringLocks(LettuceConnectionFactory connections, RedisLockRegistry registry) {
    this.connections = connections;
    this.registry = registry;
  }

  static SpringLocks connect(String uri) {
    String[] address = address(uri).split(":", -1);
    return connect(
        new LettuceConnectionFactory(
            new RedisStandaloneConfiguration(address[0], Integer.parseInt(address[1]))));
  }

  private static String address(String uri) {
    return uri.substring(uri.indexOf("//") + 2);
  }

  private static SpringLocks connect(LettuceConnectionFactory connections) {
    connections.afterPropertiesSet();
    connections.start();
    RedisLockRegistry registry = new RedisLockRegistry(connections, "spring", 30_000);
    registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
    return new SpringLocks(connections, registry);
  }

  @Override
  public Held acquire(String name) {
    Lock lock = registry.obtain(name);
    lock.lock();
    return lock::unlock;
  }

  @Override
  public void close() {
    registry.destroy();
    connections.destroy();
  }
}
