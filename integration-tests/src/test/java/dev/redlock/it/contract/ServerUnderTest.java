package dev.redlock.it.contract;

import dev.redlock.lettuce.LettuceLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A real server behind the standalone node. */
final class ServerUnderTest implements NodeUnderTest {
  private final RedisNode redis;
  private final String uri;

  /** The test manipulates the server as a user with all permissions; clients use the URI. */
  ServerUnderTest(RedisNode redis, String uri) {
    this.redis = redis;
    this.uri = uri;
  }

  @Override
  public Set<Feature> features() {
    return EnumSet.allOf(Feature.class);
  }

  @Override
  public LockNode newNode() {
    return LettuceLockNode.create(uri);
  }

  @Override
  public @Nullable String value(String key) {
    return (String) redis.command("GET", key);
  }

  @Override
  public @Nullable String field(String key, String field) {
    String stored = (String) redis.command("GET", key);
    return stored == null ? null : FenceFields.of(stored, field);
  }

  @Override
  public long ttlMillis(String key) {
    Long left = (Long) redis.command("PTTL", key);
    return left == null ? -2 : left;
  }

  @Override
  public void put(String key, String value, long ttlMillis) {
    if (ttlMillis == 0) {
      redis.command("SET", key, value);
    } else {
      redis.command("SET", key, value, "PX", Long.toString(ttlMillis));
    }
  }

  @Override
  public void putField(String key, String field, String value) {
    redis.command("SET", key, FenceFields.with(field, value));
  }

  @Override
  public void putList(String key) {
    redis.command("RPUSH", key, "foreign", "data");
  }

  @Override
  public void delete(String key) {
    redis.command("DEL", key);
  }

  @Override
  public List<String> keysWithoutTtl() {
    return redis.keys().stream()
        .filter(key -> key.ttl().isEmpty())
        .map(RedisKey::name)
        .filter(name -> !name.endsWith(":%node"))
        .toList();
  }

  @Override
  public void flush() {
    redis.flush();
  }

  @Override
  public void forgetScripts() {
    redis.command("SCRIPT", "FLUSH");
  }

  @Override
  public void kill() {
    redis.kill();
  }

  @Override
  public void restart() {
    redis.restart();
  }

  @Override
  public void pause() {
    redis.pause();
  }

  @Override
  public void resume() {
    redis.resume();
  }
}
