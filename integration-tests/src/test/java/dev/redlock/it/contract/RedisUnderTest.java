package dev.redlock.it.contract;

import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Real servers. The test manipulates them as a user with all permissions. */
abstract class RedisUnderTest implements NodeUnderTest {
  final List<RedisNode> masters;

  RedisUnderTest(List<RedisNode> masters) {
    this.masters = masters;
  }

  /** The master that stores the key. */
  abstract RedisNode at(String key);

  private @Nullable Object command(String name, String key, String... more) {
    String[] words = new String[more.length + 2];
    words[0] = name;
    words[1] = stored(key);
    System.arraycopy(more, 0, words, 2, more.length);
    return at(key).command(words);
  }

  @Override
  public Set<Feature> features() {
    return EnumSet.allOf(Feature.class);
  }

  @Override
  public @Nullable String value(String key) {
    return (String) command("GET", key);
  }

  @Override
  public @Nullable String field(String key, String field) {
    String found = value(key);
    return found == null ? null : FenceFields.of(found, field);
  }

  @Override
  public long ttlMillis(String key) {
    Long left = (Long) command("PTTL", key);
    return left == null ? -2 : left;
  }

  @Override
  public void put(String key, String value, long ttlMillis) {
    if (ttlMillis == 0) {
      command("SET", key, value);
    } else {
      command("SET", key, value, "PX", Long.toString(ttlMillis));
    }
  }

  @Override
  public void putField(String key, String field, String value) {
    command("SET", key, FenceFields.with(field, value));
  }

  @Override
  public void putList(String key) {
    command("RPUSH", key, "foreign", "data");
  }

  @Override
  public void delete(String key) {
    command("DEL", key);
  }

  @Override
  public List<String> keysWithoutTtl() {
    return masters.stream()
        .flatMap(master -> master.keys().stream())
        .filter(key -> key.ttl().isEmpty())
        .map(RedisKey::name)
        .filter(name -> !name.endsWith(":%node"))
        .toList();
  }

  @Override
  public void flush() {
    masters.forEach(RedisNode::flush);
  }

  @Override
  public void forgetScripts() {
    masters.forEach(master -> master.command("SCRIPT", "FLUSH"));
  }

  @Override
  public void kill() {
    masters.forEach(RedisNode::kill);
  }

  @Override
  public void restart() {
    masters.forEach(RedisNode::restart);
  }

  @Override
  public void pause() {
    masters.forEach(RedisNode::pause);
  }

  @Override
  public void resume() {
    masters.forEach(RedisNode::resume);
  }
}
