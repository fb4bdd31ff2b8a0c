package dev.redlock.it.failures;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * Two registers, on a Redis without faults. One remembers the highest token of reads and writes,
 * and rejects lower ones; the other accepts every write.
 */
final class Register implements AutoCloseable {
  static final String CHECKED = "checked";
  static final String UNCHECKED = "unchecked";

  private static final String SEEN =
      "local t = redis.call('HGET', KEYS[1], 'token')"
          + " if t and tonumber(t) > tonumber(ARGV[1]) then return -1 end"
          + " redis.call('HSET', KEYS[1], 'token', ARGV[1])";
  private static final String READ =
      SEEN + " return tonumber(redis.call('HGET', KEYS[1], 'value') or '0')";
  private static final String WRITE =
      SEEN + " redis.call('HSET', KEYS[1], 'value', ARGV[2]) return 1";

  private final RedisClient client;
  private final RedisCommands<String, String> redis;

  Register(String uri) {
    RedisURI address = RedisURI.create(uri);
    address.setTimeout(Duration.ofSeconds(20));
    client = RedisClient.create(address);
    redis = client.connect().sync();
  }

  @Override
  public void close() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }

  /** The value; empty if the register has seen a higher token. */
  OptionalLong read(long token) {
    long value =
        redis.<Long>eval(
            READ, ScriptOutputType.INTEGER, new String[] {CHECKED}, Long.toString(token));
    return value < 0 ? OptionalLong.empty() : OptionalLong.of(value);
  }

  /** Whether the value was written; false if the register has seen a higher token. */
  boolean write(long token, long value) {
    return redis.<Long>eval(
            WRITE,
            ScriptOutputType.INTEGER,
            new String[] {CHECKED},
            Long.toString(token),
            Long.toString(value))
        == 1;
  }

  long read() {
    String value = redis.get(UNCHECKED);
    return value == null ? 0 : Long.parseLong(value);
  }

  void write(long value) {
    redis.set(UNCHECKED, Long.toString(value));
  }

  long finalValue(String register) {
    if (register.equals(UNCHECKED)) {
      return read();
    }
    String value = redis.hget(CHECKED, "value");
    return value == null ? 0 : Long.parseLong(value);
  }
}
