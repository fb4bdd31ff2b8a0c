package dev.redlock.examples.tutorial;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.UUID;

/** Step 3: the key names its owner. Not for use: the lock lives and dies with one master. */
final class OwnedLock {
  private final RedisCommands<String, String> redis;
  private final String name;
  private final long ttlMillis;
  private final String owner = UUID.randomUUID().toString();

  OwnedLock(RedisCommands<String, String> redis, String name, long ttlMillis) {
    this.redis = redis;
    this.name = name;
    this.ttlMillis = ttlMillis;
  }

  // tutorial: owner
  public boolean tryLock() {
    return "OK".equals(redis.set(name, owner, SetArgs.Builder.nx().px(ttlMillis)));
  }

  public void unlock() {
    String deleteIfMine =
        "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 0";
    redis.eval(deleteIfMine, ScriptOutputType.INTEGER, new String[] {name}, owner);
  }
  // tutorial.
}
