package dev.redlock.examples.fencing;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.util.List;

/**
 * Stock in Redis that checks fencing tokens, with a book of all sales. One script does check and
 * write, and Redis executes it atomically. Tokens stay below 2^53, so Lua numbers represent them
 * exactly.
 */
public final class RedisStock {
  private static final String SEEN_HIGHER =
      """
      local seen = redis.call('HGET', KEYS[1], 'fence')
      if seen and tonumber(seen) > tonumber(ARGV[1]) then return false end
      redis.call('HSET', KEYS[1], 'fence', ARGV[1])
      """;
  private static final String READ = SEEN_HIGHER + "return redis.call('HGET', KEYS[1], 'amount')";
  private static final String SELL =
      SEEN_HIGHER
          + """
          redis.call('HSET', KEYS[1], 'amount', ARGV[2])
          redis.call('RPUSH', KEYS[2], ARGV[3])
          return ARGV[2]
          """;

  private final RedisClusterCommands<String, String> redis;
  private final String stock;
  private final String book;

  /** Creates the stock and the book of one item, on one master or in a cluster. */
  public RedisStock(RedisClusterCommands<String, String> redis, String item) {
    this.redis = redis;
    stock = "stock:{" + item + "}";
    book = stock + ":book";
  }

  /** Sets the stock and clears the book and the fence. */
  public void fill(int amount) {
    redis.del(stock, book);
    redis.hset(stock, "amount", Integer.toString(amount));
  }

  /**
   * Returns the stock, and rejects lower tokens from now on.
   *
   * @throws StaleTokenException if a higher token was seen
   */
  public int read(long token) {
    return run(READ, token, Long.toString(token));
  }

  /**
   * Sets the stock and adds the sale to the book, atomically.
   *
   * @throws StaleTokenException if a higher token was seen; nothing was written
   */
  public void sell(int left, String entry, long token) {
    run(SELL, token, Long.toString(token), Integer.toString(left), entry);
  }

  private int run(String script, long token, String... arguments) {
    String amount =
        redis.eval(script, ScriptOutputType.VALUE, new String[] {stock, book}, arguments);
    if (amount == null) {
      throw new StaleTokenException(stock, token);
    }
    return Integer.parseInt(amount);
  }

  /** Returns the stock without a check of a token: a plain read, as in a program without a lock. */
  public int readUnchecked() {
    return Integer.parseInt(redis.hget(stock, "amount"));
  }

  /** Sets the stock without a check of a token: a plain write, as in a program without a lock. */
  public void sellUnchecked(int left, String entry) {
    redis.hset(stock, "amount", Integer.toString(left));
    redis.rpush(book, entry);
  }

  /** Returns all entries, in the order of the sales. */
  public List<String> book() {
    return redis.lrange(book, 0, -1);
  }
}
