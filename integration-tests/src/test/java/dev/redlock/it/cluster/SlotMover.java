package dev.redlock.it.cluster;

import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Eventually;
import dev.redlock.testkit.RedisNode;
import io.lettuce.core.MigrateArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Moves slots with many keys, as {@code redis-cli --cluster reshard} does: ten keys at a time, over
 * one connection to each master. The keys of a slot move in random order, which keeps lock key and
 * fence key apart for long; Redis 8 and Valkey list them in the order of their hash.
 */
final class SlotMover implements AutoCloseable {
  private static final int BATCH = 10;

  /** Filling the slot must not block the server for longer than the move does. */
  private static final int FILL_BATCH = 500;

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final RedisClusterNodes cluster;
  private final Random random;
  private final int maxKeys;
  private final RedisClient client = RedisClient.create();
  private final Map<RedisNode, RedisCommands<String, String>> masters = new HashMap<>();

  private int moved;
  private long keys;
  private long longestMillis;

  /**
   * @param maxKeys a slot has from a hundredth of this number of keys to all of them
   */
  SlotMover(RedisClusterNodes cluster, Random random, int maxKeys) {
    this.cluster = cluster;
    this.random = random;
    this.maxKeys = maxKeys;
  }

  int moved() {
    return moved;
  }

  long keys() {
    return keys;
  }

  long longestMillis() {
    return longestMillis;
  }

  /** Fills the slot of this tag, and moves it to another master with these steps. */
  void move(String tag, Steps steps) {
    int slot = RedisClusterNodes.slot(tag);
    RedisNode from = cluster.masterOf(slot);
    int fill = fill(tag, from);
    List<RedisNode> others = cluster.masters().stream().filter(master -> master != from).toList();
    RedisNode to = others.get(random.nextInt(others.size()));
    long begin = System.nanoTime();
    steps.move(slot, from, to);
    longestMillis = Math.max(longestMillis, (System.nanoTime() - begin) / 1_000_000);
    moved++;
    each(
        to,
        "for i=ARGV[1],ARGV[2] do redis.call('UNLINK',KEYS[1]..string.format('%d',i)) end",
        tag,
        fill);
  }

  /** How a slot is moved. */
  interface Steps {
    void move(int slot, RedisNode from, RedisNode to);
  }

  /** Ten keys at a time, in random order. */
  void byMigrate(int slot, RedisNode from, RedisNode to) {
    cluster.openSlot(slot, from, to);
    List<String> left = keysIn(from, slot);
    while (!left.isEmpty()) { // New keys go to the target; those that expire are skipped.
      Collections.shuffle(left, random);
      for (int i = 0; i < left.size(); i += BATCH) {
        migrate(from, to, left.subList(i, Math.min(left.size(), i + BATCH)));
      }
      keys += left.size();
      left = keysIn(from, slot);
    }
    cluster.closeSlot(slot, to);
  }

  /** All at once: the server copies the slot, then hands it over. Valkey 9. */
  void byCopy(int slot, RedisNode from, RedisNode to) {
    long before = on(from).clusterCountKeysInSlot(slot);
    from.command(
        "CLUSTER",
        "MIGRATESLOTS",
        "SLOTSRANGE",
        Integer.toString(slot),
        Integer.toString(slot),
        "NODE",
        on(to).clusterMyId());
    Eventually.holds(
        () -> ownsAlone(to, slot), Duration.ofMinutes(1), () -> said(from, "GETSLOTMIGRATIONS"));
    cluster.awaitReady();
    keys += before;
  }

  private boolean ownsAlone(RedisNode node, int slot) {
    return cluster.stream()
        .allMatch(
            asked ->
                asked.command("CLUSTER", "SLOTS") instanceof List<?> ranges
                    && ranges.stream().anyMatch(range -> isServedBy(node, slot, (List<?>) range)));
  }

  private static boolean isServedBy(RedisNode node, int slot, List<?> range) {
    return (Long) range.get(0) <= slot
        && slot <= (Long) range.get(1)
        && ((List<?>) range.get(2)).get(1).equals((long) node.port());
  }

  private static String said(RedisNode node, String what) {
    return String.valueOf(node.command("CLUSTER", what));
  }

  /** Writes keys, and returns their number. Each order of magnitude is equally probable. */
  int fill(String tag, RedisNode master) {
    int fill = (int) Math.max(1, maxKeys * Math.pow(100, -random.nextDouble()));
    each(
        master,
        "for i=ARGV[1],ARGV[2] do redis.call('SET',KEYS[1]..string.format('%d',i),i,'PX',1200000)"
            + " end",
        tag,
        fill);
    return fill;
  }

  private void each(RedisNode master, String script, String tag, int count) {
    for (int i = 0; i < count; i += FILL_BATCH) {
      on(master)
          .eval(
              script,
              ScriptOutputType.VALUE,
              new String[] {"fill:" + tag},
              Integer.toString(i),
              Integer.toString(Math.min(count, i + FILL_BATCH) - 1));
    }
  }

  private List<String> keysIn(RedisNode node, int slot) {
    return new ArrayList<>(on(node).clusterGetKeysInSlot(slot, 1_000_000));
  }

  private void migrate(RedisNode from, RedisNode to, List<String> keys) {
    MigrateArgs<String> args = MigrateArgs.Builder.keys(keys);
    on(from).migrate("127.0.0.1", to.directPort(), 0, 5_000, args); // BUSYKEY is an exception.
  }

  private RedisCommands<String, String> on(RedisNode node) {
    return masters.computeIfAbsent(
        node,
        key ->
            client
                .connect(
                    RedisURI.builder()
                        .withHost("127.0.0.1")
                        .withPort(key.directPort())
                        .withTimeout(PATIENCE)
                        .build())
                .sync());
  }

  @Override
  public void close() {
    client.shutdown();
  }
}
