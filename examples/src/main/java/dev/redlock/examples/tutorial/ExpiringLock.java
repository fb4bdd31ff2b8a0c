package dev.redlock.examples.tutorial;

import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;

/** Step 2: the key expires. Not for use: a late holder deletes the lock of its successor. */
final class ExpiringLock {
  private final RedisCommands<String, String> redis;
  private final String name;
  private final long ttlMillis;

  ExpiringLock(RedisCommands<String, String> redis, String name, long ttlMillis) {
    this.redis = redis;
    this.name = name;
    this.ttlMillis = ttlMillis;
  }

  // tutorial: expiry
  public boolean tryLock() {
    return "OK".equals(redis.set(name, "taken", SetArgs.Builder.nx().px(ttlMillis)));
  }

  public void unlock() {
    redis.del(name);
  }
  // tutorial.
}
