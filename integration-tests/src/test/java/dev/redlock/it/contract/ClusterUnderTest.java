package dev.redlock.it.contract;

import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.spi.LockNode;
import dev.redlock.testkit.RedisClusterNodes;
import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.ServerState;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A whole cluster behind one node. Its masters are killed and paused together, for less than it
 * takes their replicas to notice.
 */
final class ClusterUnderTest implements NodeUnderTest {
  private final RedisClusterNodes cluster;
  private final List<RedisNode> masters;

  ClusterUnderTest(RedisClusterNodes cluster) {
    this.cluster = cluster;
    masters = cluster.masters();
  }

  private RedisNode at(String key) {
    return masters.get(RedisClusterNodes.slot(key) * masters.size() / 16384);
  }

  @Override
  public Set<Feature> features() {
    return EnumSet.allOf(Feature.class);
  }

  @Override
  public LockNode newNode() {
    return ClusterLockNode.connect(cluster.uris(), ClusterOptions.defaults());
  }

  @Override
  public @Nullable String value(String key) {
    return (String) at(key).command("GET", key);
  }

  @Override
  public @Nullable String field(String key, String field) {
    return (String) at(key).command("HGET", key, field);
  }

  @Override
  public long ttlMillis(String key) {
    Long left = (Long) at(key).command("PTTL", key);
    return left == null ? -2 : left;
  }

  @Override
  public void put(String key, String value, long ttlMillis) {
    if (ttlMillis == 0) {
      at(key).command("SET", key, value);
    } else {
      at(key).command("SET", key, value, "PX", Long.toString(ttlMillis));
    }
  }

  @Override
  public void putField(String key, String field, String value) {
    at(key).command("HSET", key, field, value);
  }

  @Override
  public void putList(String key) {
    at(key).command("RPUSH", key, "somebody's", "data");
  }

  @Override
  public void delete(String key) {
    at(key).command("DEL", key);
  }

  @Override
  public List<String> keysWithoutTtl() {
    return masters.stream()
        .flatMap(master -> master.keys().stream())
        .filter(key -> key.ttl().isEmpty())
        .map(RedisKey::name)
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
    cluster.awaitReady();
  }

  @Override
  public void pause() {
    masters.forEach(RedisNode::pause);
  }

  @Override
  public void resume() {
    masters.forEach(RedisNode::resume);
  }

  @Override
  public void heal() {
    boolean down = masters.stream().anyMatch(master -> master.state() == ServerState.DEAD);
    masters.stream()
        .filter(master -> master.state() == ServerState.PAUSED)
        .forEach(RedisNode::resume);
    if (down) {
      restart();
    }
  }
}
