package dev.redlock.examples.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Stock in an SQL table that checks fencing tokens. It needs one additional column and no stored
 * procedure.
 *
 * <p>The read checks the token too. If only the write checked it, a late holder could read a value
 * that its successor is about to change; until the successor writes, the resource would accept the
 * late write.
 */
public final class SqlStock {
  private static final String TABLE =
      "CREATE TABLE IF NOT EXISTS stock (item VARCHAR(200) PRIMARY KEY,"
          + " amount INT NOT NULL, fence BIGINT DEFAULT 0 NOT NULL)";
  private static final String RAISE = "UPDATE stock SET fence = ? WHERE item = ? AND fence <= ?";
  private static final String READ = "SELECT amount FROM stock WHERE item = ?";
  private static final String WRITE =
      "UPDATE stock SET amount = ?, fence = ? WHERE item = ? AND fence <= ?";

  private final DataSource database;

  /** Uses the table {@code stock}, and creates it if it does not exist. */
  public SqlStock(DataSource database) throws SQLException {
    this.database = database;
    try (Connection connection = database.getConnection();
        PreparedStatement table = connection.prepareStatement(TABLE)) {
      table.execute();
    }
  }

  /** Adds an item. */
  public void add(String item, int amount) throws SQLException {
    try (Connection connection = database.getConnection();
        PreparedStatement insert =
            connection.prepareStatement("INSERT INTO stock (item, amount) VALUES (?, ?)")) {
      insert.setString(1, item);
      insert.setInt(2, amount);
      insert.executeUpdate();
    }
  }

  /**
   * Returns the stock, and rejects lower tokens from now on.
   *
   * @throws StaleTokenException if a higher token was seen
   */
  public int read(String item, long token) throws SQLException {
    try (Connection connection = database.getConnection();
        PreparedStatement raise = connection.prepareStatement(RAISE);
        PreparedStatement read = connection.prepareStatement(READ)) {
      raise.setLong(1, token);
      raise.setString(2, item);
      raise.setLong(3, token);
      requireAccepted(raise.executeUpdate(), item, token);
      // A higher token may arrive between the two statements. Then this reads the newer value, and
      // the later write is rejected.
      read.setString(1, item);
      try (ResultSet row = read.executeQuery()) {
        row.next();
        return row.getInt(1);
      }
    }
  }

  /**
   * Sets the stock. When this returns, the value is stored; if it throws, nothing was stored.
   *
   * @throws StaleTokenException if a higher token was seen
   */
  public void write(String item, int amount, long token) throws SQLException {
    try (Connection connection = database.getConnection();
        PreparedStatement write = connection.prepareStatement(WRITE)) {
      write.setInt(1, amount);
      write.setLong(2, token);
      write.setString(3, item);
      write.setLong(4, token);
      requireAccepted(write.executeUpdate(), item, token);
    }
  }

  private static void requireAccepted(int rows, String item, long token) {
    if (rows == 0) {
      throw new StaleTokenException(item, token);
    }
  }
}
