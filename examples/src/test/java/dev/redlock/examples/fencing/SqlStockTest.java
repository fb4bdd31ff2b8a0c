package dev.redlock.examples.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SqlStockTest {
  private static final String ITEM = "coupon";
  private static final long OLDER = 1_795_250_000_000_001L;
  private static final long NEWER = 1_795_250_000_000_002L;

  private JdbcConnectionPool database;
  private SqlStock stock;

  @BeforeEach
  void open() throws SQLException {
    database = JdbcConnectionPool.create("jdbc:h2:mem:stock", "sa", "");
    stock = new SqlStock(database);
    stock.add(ITEM, 1000);
  }

  @AfterEach
  void close() throws SQLException {
    try (var connection = database.getConnection();
        var statement = connection.createStatement()) {
      statement.execute("DROP TABLE stock");
    }
    database.dispose();
  }

  @Test
  void write_afterNewerHolderHasWritten_isRefusedAndChangesNothing() throws SQLException {
    int seenByOlder = stock.read(ITEM, OLDER);
    stock.write(ITEM, stock.read(ITEM, NEWER) - 1, NEWER);

    assertThatThrownBy(() -> stock.write(ITEM, seenByOlder - 1, OLDER))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining(Long.toString(OLDER));
    assertThat(stock.read(ITEM, NEWER)).isEqualTo(999);
  }

  @Test
  void write_afterNewerHolderHasOnlyRead_isRefused() throws SQLException {
    stock.read(ITEM, OLDER);
    stock.read(ITEM, NEWER);

    assertThatThrownBy(() -> stock.write(ITEM, 0, OLDER)).isInstanceOf(StaleTokenException.class);
    assertThat(stock.read(ITEM, NEWER)).isEqualTo(1000);
  }

  @Test
  void read_afterNewerHolder_isRefused() throws SQLException {
    stock.read(ITEM, NEWER);

    assertThatThrownBy(() -> stock.read(ITEM, OLDER)).isInstanceOf(StaleTokenException.class);
  }

  @Test
  void write_twiceUnderOneLease_isAcceptedTwice() throws SQLException {
    stock.write(ITEM, stock.read(ITEM, OLDER) - 1, OLDER);
    stock.write(ITEM, stock.read(ITEM, OLDER) - 1, OLDER);

    assertThat(stock.read(ITEM, OLDER)).isEqualTo(998);
  }

  @Test
  void sale_byManyWithTokensAndWithoutAnyLock_neverSellsTwice() throws Exception {
    AtomicLong tokens = new AtomicLong(OLDER);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    List<Future<Integer>> sellers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      sellers.add(threads.submit(() -> sell(tokens)));
    }
    int sold = 0;
    for (Future<Integer> seller : sellers) {
      sold += seller.get();
    }
    threads.shutdown();

    assertThat(sold).isPositive();
    assertThat(stock.read(ITEM, tokens.incrementAndGet())).isEqualTo(1000 - sold);
  }

  private int sell(AtomicLong tokens) throws SQLException {
    int sold = 0;
    for (int i = 0; i < 200; i++) {
      long token = tokens.incrementAndGet();
      try {
        int amount = stock.read(ITEM, token);
        stock.write(ITEM, amount - 1, token);
        sold++;
      } catch (StaleTokenException e) {
        // Another holder came later and wrote first, so the value that this holder read is old.
      }
    }
    return sold;
  }
}
