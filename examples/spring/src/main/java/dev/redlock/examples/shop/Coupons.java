package dev.redlock.examples.shop;

import dev.redlock.FencingToken;
import dev.redlock.spring.Locked;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;

/** The table of coupons. Its column {@code fence} holds the highest token that it has accepted. */
@Service
class Coupons {
  private static final String RAISE = "UPDATE coupon SET fence = ? WHERE name = ? AND fence <= ?";
  private static final String READ = "SELECT remaining FROM coupon WHERE name = ?";
  private static final String WRITE =
      "UPDATE coupon SET remaining = ?, fence = ? WHERE name = ? AND fence <= ?";

  private final JdbcTemplate database;

  Coupons(JdbcTemplate database) {
    this.database = database;
  }

  /** How many are left; empty if there is no such coupon. */
  public OptionalInt remaining(String name) {
    List<Integer> rows = database.queryForList(READ, Integer.class, name);
    return rows.isEmpty() ? OptionalInt.empty() : OptionalInt.of(rows.get(0));
  }

  /**
   * Sells one coupon. Reads and writes in two steps, which only the lock keeps together; the token
   * rejects the second step of a caller that was paused between them and lost the lock.
   *
   * @param token filled in; callers pass null
   * @return how many are left; empty if it is sold out
   */
  @Locked("coupon-#{#name}")
  public OptionalInt sell(String name, @Nullable FencingToken token) {
    requireAccepted(name, token, database.update(RAISE, value(token), name, value(token)));
    int left = remaining(name).orElseThrow() - 1;
    if (left < 0) {
      return OptionalInt.empty();
    }
    requireAccepted(name, token, database.update(WRITE, left, value(token), name, value(token)));
    return OptionalInt.of(left);
  }

  /** Fills the stock up to a number, under the lock of the sale. */
  @Locked("coupon-#{#name}")
  public void restock(String name, int number, @Nullable FencingToken token) {
    requireAccepted(name, token, database.update(WRITE, number, value(token), name, value(token)));
  }

  private static long value(@Nullable FencingToken token) {
    if (token == null) {
      throw new IllegalStateException("called without the lock, from the same object");
    }
    return token.value();
  }

  private static void requireAccepted(String name, @Nullable FencingToken token, int rows) {
    if (rows == 0) {
      throw new IllegalStateException(
          "coupon " + name + ": none, or a later holder has written (token " + token + ")");
    }
  }
}
