package dev.redlock.it.contract;

import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.spi.LockNode;
import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.ServerState;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A cluster behind one node, or one of several. Tests kill and pause its masters together, for less
 * time than the replicas need to notice.
 */
final class ClusterUnderTest implements NodeUnderTest {
  private final RedisClusterNodes cluster;
  private final List<RedisNode> masters;
  private final Supplier<LockNode> nodes;
  private final UnaryOperator<String> stored;

  ClusterUnderTest(RedisClusterNodes cluster) {
    this(
        cluster,
        () -> ClusterLockNode.connect(cluster.uris(), ClusterOptions.defaults()),
        key -> key);
  }

  /**
   * @param nodes makes a node
   * @param stored the key that the node stores for this one
   */
  ClusterUnderTest(
      RedisClusterNodes cluster, Supplier<LockNode> nodes, UnaryOperator<String> stored) {
    this.cluster = cluster;
    this.nodes = nodes;
    this.stored = stored;
    masters = cluster.masters();
  }

  private RedisNode at(String key) {
    return masters.get(RedisClusterNodes.slot(stored.apply(key)) * masters.size() / 16384);
  }

  @Override
  public Set<Feature> features() {
    return EnumSet.allOf(Feature.class);
  }

  @Override
  public LockNode newNode() {
    return nodes.get();
  }

  @Override
  public String stored(String key) {
    return stored.apply(key);
  }

  @Override
  public @Nullable String value(String key) {
    return (String) at(key).command("GET", stored.apply(key));
  }

  @Override
  public @Nullable String field(String key, String field) {
    String found = (String) at(key).command("GET", stored.apply(key));
    return found == null ? null : FenceFields.of(found, field);
  }

  @Override
  public long ttlMillis(String key) {
    Long left = (Long) at(key).command("PTTL", stored.apply(key));
    return left == null ? -2 : left;
  }

  @Override
  public void put(String key, String value, long ttlMillis) {
    if (ttlMillis == 0) {
      at(key).command("SET", stored.apply(key), value);
    } else {
      at(key).command("SET", stored.apply(key), value, "PX", Long.toString(ttlMillis));
    }
  }

  @Override
  public void putField(String key, String field, String value) {
    at(key).command("SET", stored.apply(key), FenceFields.with(field, value));
  }

  @Override
  public void putList(String key) {
    at(key).command("RPUSH", stored.apply(key), "foreign", "data");
  }

  @Override
  public void delete(String key) {
    at(key).command("DEL", stored.apply(key));
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
  public void endFaults() {
    boolean down = masters.stream().anyMatch(master -> master.state() == ServerState.DEAD);
    masters.stream()
        .filter(master -> master.state() == ServerState.PAUSED)
        .forEach(RedisNode::resume);
    if (down) {
      restart();
    }
  }
}
