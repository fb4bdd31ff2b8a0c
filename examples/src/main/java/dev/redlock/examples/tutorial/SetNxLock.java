package dev.redlock.examples.tutorial;

import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;

/** Step 1: a key that says "taken". Not for use: it stays for ever if its holder dies. */
final class SetNxLock {
  private final RedisCommands<String, String> redis;
  private final String name;

  SetNxLock(RedisCommands<String, String> redis, String name) {
    this.redis = redis;
    this.name = name;
  }

  // tutorial: set-nx
  public boolean tryLock() {
    return "OK".equals(redis.set(name, "taken", SetArgs.Builder.nx()));
  }

  public void unlock() {
    redis.del(name);
  }
  // tutorial.
}
