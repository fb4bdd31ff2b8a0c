package dev.redlock.examples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Redlock;
import dev.redlock.examples.fencing.RedisStock;
import dev.redlock.examples.fencing.SqlStock;
import dev.redlock.testkit.RedisNodes;
import io.lettuce.core.RedisClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class LateWriterTest {
  private static RedisNodes nodes;
  private static Redlock first;
  private static Redlock second;

  @BeforeAll
  static void start() {
    nodes = RedisNodes.start(3);
    first = Clients.connect(nodes.uris());
    second = Clients.connect(nodes.uris());
  }

  @AfterAll
  static void stop() {
    first.close();
    second.close();
    nodes.close();
  }

  @Test
  void lateWrite_toSql_isRejectedAndTheSaleStays() throws Exception {
    SqlStock stock = new SqlStock(Recipes.database());
    stock.add("coupon", 100);

    assertThat(run(Recipes.sql(stock))).isTrue();
    assertThat(stock.read("coupon", Long.MAX_VALUE)).isEqualTo(99);
  }

  @Test
  void lateWrite_toRedis_isRejectedAndTheBookHasOneSale() throws Exception {
    try (RedisNodes shop = RedisNodes.start(1);
        RedisClient client = RedisClient.create(shop.uris().get(0))) {
      RedisStock stock = new RedisStock(client.connect().sync(), "coupon");
      stock.fill(100);

      assertThat(run(Recipes.redis(stock))).isTrue();
      assertThat(stock.readUnchecked()).isEqualTo(99);
      assertThat(stock.book()).hasSize(1);
    }
  }

  /** The control: without tokens the same run loses a sale. */
  @Test
  void lateWrite_toAStockWithoutTokens_isAcceptedAndASaleIsLost() throws Exception {
    int[] amount = {100};
    int[] writes = {0};
    TokenStock unchecked =
        new TokenStock() {
          @Override
          public int read(long token) {
            return amount[0];
          }

          @Override
          public void write(int left, long token) {
            amount[0] = left;
            writes[0]++;
          }
        };

    assertThat(run(unchecked)).isFalse();
    assertThat(writes[0]).as("sales").isEqualTo(2);
    assertThat(amount[0]).as("two were sold, and one is missing").isEqualTo(99);
  }

  private static boolean run(TokenStock stock) throws Exception {
    return new LateWriter(first, second, stock, line -> {}).run();
  }
}
