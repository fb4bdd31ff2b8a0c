package dev.redlock.examples.fencing;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;

/**
 * Stock in Redis that checks fencing tokens, with a book of all sales. Check and act are one
 * script, which Redis runs as one step. Tokens stay below 2^53, so Lua's numbers hold them exactly.
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

  private final RedisCommands<String, String> redis;
  private final String stock;
  private final String book;

  /** Stock and book of one item. */
  public RedisStock(RedisCommands<String, String> redis, String item) {
    this.redis = redis;
    stock = "stock:{" + item + "}";
    book = stock + ":book";
  }

  /** Starts afresh. */
  public void fill(int amount) {
    redis.del(stock, book);
    redis.hset(stock, "amount", Integer.toString(amount));
  }

  /**
   * Returns how much there is, and from now on refuses lower tokens.
   *
   * @throws StaleTokenException if a higher token was seen
   */
  public int read(long token) {
    return run(READ, token, Long.toString(token));
  }

  /**
   * Sets how much is left and enters the sale in the book, both or neither.
   *
   * @throws StaleTokenException if a higher token was seen; nothing was sold then
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

  /**
   * Returns how much there is, whatever the token: a plain read, as one would do without a lock.
   */
  public int readUnchecked() {
    return Integer.parseInt(redis.hget(stock, "amount"));
  }

  /** Sets how much is left, whatever the token: a plain write, as one would do without a lock. */
  public void sellUnchecked(int left, String entry) {
    redis.hset(stock, "amount", Integer.toString(left));
    redis.rpush(book, entry);
  }

  /** All entries, in the order in which the sales were made. */
  public List<String> book() {
    return redis.lrange(book, 0, -1);
  }
}
