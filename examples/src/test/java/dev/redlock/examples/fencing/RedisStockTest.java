package dev.redlock.examples.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.testkit.RedisNodes;
import io.lettuce.core.RedisClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RedisStockTest {
  private static final long OLDER = 1_795_250_000_000_001L;
  private static final long NEWER = 1_795_250_000_000_002L;

  private static RedisNodes nodes;
  private static RedisClient client;
  private static RedisStock stock;

  @BeforeAll
  static void start() {
    nodes = RedisNodes.start(1);
    client = RedisClient.create(nodes.uris().get(0));
    stock = new RedisStock(client.connect().sync(), "coupon");
  }

  @AfterAll
  static void stop() {
    client.shutdown();
    nodes.close();
  }

  @BeforeEach
  void fill() {
    stock.fill(1000);
  }

  @Test
  void sell_afterNewerHolderHasSold_isRefusedAndNotInTheBook() {
    int seenByOlder = stock.read(OLDER);
    stock.sell(stock.read(NEWER) - 1, "newer", NEWER);

    assertThatThrownBy(() -> stock.sell(seenByOlder - 1, "older", OLDER))
        .isInstanceOf(StaleTokenException.class);
    assertThat(stock.readUnchecked()).isEqualTo(999);
    assertThat(stock.book()).containsExactly("newer");
  }

  @Test
  void sell_afterNewerHolderHasOnlyRead_isRefused() {
    stock.read(OLDER);
    stock.read(NEWER);

    assertThatThrownBy(() -> stock.sell(0, "older", OLDER)).isInstanceOf(StaleTokenException.class);
    assertThat(stock.book()).isEmpty();
  }

  @Test
  void read_withTokensThatDifferInTheLastOfSixteenDigits_tellsThemApart() {
    long highest = (1L << 53) - 1;
    stock.read(highest);

    assertThatThrownBy(() -> stock.read(highest - 1)).isInstanceOf(StaleTokenException.class);
    assertThat(stock.read(highest)).isEqualTo(1000);
  }
}
