package dev.redlock.it.cluster;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.sync.RedisAdvancedClusterCommands;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code SET NX} of free keys in the same slots, by a plain cluster client: the control of an
 * acquire. Its times show the delay of the servers and of the machine. Each time is measured from
 * the end of one write to the end of the next, because the machine may also stop between the two.
 */
final class PlainWrites implements AutoCloseable {
  private final RedisClusterClient client;
  private final RedisAdvancedClusterCommands<String, String> redis;
  private final Thread thread;
  private final Latencies latencies = new Latencies();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean over;

  PlainWrites(List<String> uris, List<String> tags, long seed) {
    client = RedisClusterClient.create(uris.stream().map(RedisURI::create).toList());
    redis = client.connect().sync();
    thread = new Thread(() -> write(tags, new Random(seed)), "plain-writes");
  }

  void start() {
    thread.start();
  }

  private void write(List<String> tags, Random random) {
    long last = System.nanoTime();
    for (int i = 0; !over; i++) {
      String key = "plain" + i + "_" + tags.get(random.nextInt(tags.size()));
      try {
        redis.set(key, "x", SetArgs.Builder.nx().px(2_000));
        latencies.add(last);
      } catch (RedisException e) {
        failures.add(e);
      }
      last = System.nanoTime();
      LockSupport.parkNanos(2_000_000);
    }
  }

  Latencies latencies() {
    return latencies;
  }

  @Override
  public void close() throws InterruptedException {
    over = true;
    thread.join();
    client.shutdown();
  }

  @Override
  public String toString() {
    return latencies + (failures.isEmpty() ? "" : ", failed " + failures.size() + " times");
  }
}
