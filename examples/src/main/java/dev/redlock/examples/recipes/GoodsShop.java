package dev.redlock.examples.recipes;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.LockQueueFullException;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.examples.fencing.RedisStock;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.time.Duration;

/**
 * Sells goods whose stock is in a Redis Cluster, under one lock per article in the same cluster.
 * The name {@code buy_{42}} and the key {@code stock:{42}} share the hash tag {@code 42}, so they
 * are on one master. The number of waiting buyers is bounded: a buyer who would wait for too long
 * learns at once that the server is busy.
 */
final class GoodsShop {
  /** What a buyer is told. */
  enum Answer {
    SOLD,
    SOLD_OUT,
    BUSY
  }

  private final Redlock redlock;
  private final RedisClusterCommands<String, String> redis;
  private final LockOptions options;
  private final Duration patience;

  /**
   * @param queueBound how many buyers of one article may wait in this process
   * @param patience how long a buyer waits at most
   */
  GoodsShop(
      Redlock redlock,
      RedisClusterCommands<String, String> redis,
      int queueBound,
      Duration patience) {
    this.redlock = redlock;
    this.redis = redis;
    options = redlock.defaultOptions().toBuilder().queueBound(queueBound).build();
    this.patience = patience;
  }

  /** Sells one piece of the article. */
  Answer buy(String article, String buyer) {
    RedisStock stock = new RedisStock(redis, article);
    try (Lease lease = redlock.lock("buy_{" + article + "}", options).acquire(patience)) {
      long token = lease.fencingToken().value();
      int left = stock.read(token);
      if (left == 0) {
        return Answer.SOLD_OUT;
      }
      stock.sell(left - 1, buyer, token);
      return Answer.SOLD;
    } catch (LockQueueFullException | LockTimeoutException e) {
      return Answer.BUSY;
    }
  }
}
