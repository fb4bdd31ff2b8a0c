package dev.redlock.examples.recipes;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.examples.fencing.StaleTokenException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * A job whose effect must appear once per period, although every process starts it.
 *
 * <p>A lock alone is not enough. A process may start the job after another one has finished it, and
 * a process that was paused may finish it late. So a row of the database records the period. It is
 * written in the same transaction as the effect of the job, and only with the highest token that
 * the row has seen.
 */
final class DailyJob {
  /** The result of one start of the job. */
  enum Outcome {
    /** This process has done the work. */
    DONE,
    /** The work of this period was done before. */
    DONE_BEFORE,
    /** Another process does the work now. */
    HELD_ELSEWHERE
  }

  /** The work. It writes through the connection only, so its effect is committed or not. */
  interface Work {
    void run(Connection transaction, Lease lease) throws Exception;
  }

  private static final String TABLE =
      "CREATE TABLE IF NOT EXISTS job_runs (job VARCHAR(100), period VARCHAR(100),"
          + " fence BIGINT NOT NULL, done BOOLEAN DEFAULT FALSE NOT NULL,"
          + " PRIMARY KEY (job, period))";
  private static final String ADD =
      "INSERT INTO job_runs (job, period, fence) SELECT ?, ?, 0"
          + " WHERE NOT EXISTS (SELECT 1 FROM job_runs WHERE job = ? AND period = ?)";
  private static final String RAISE =
      "UPDATE job_runs SET fence = ? WHERE job = ? AND period = ? AND fence <= ?";
  private static final String IS_DONE = "SELECT done FROM job_runs WHERE job = ? AND period = ?";
  private static final String MARK =
      "UPDATE job_runs SET done = TRUE WHERE job = ? AND period = ? AND fence = ? AND NOT done";

  private final Redlock redlock;
  private final DataSource database;
  private final String job;
  private final LockOptions options;

  DailyJob(Redlock redlock, DataSource database, String job, LockOptions options)
      throws SQLException {
    this.redlock = redlock;
    this.database = database;
    this.job = job;
    this.options = options;
    try (Connection connection = database.getConnection();
        PreparedStatement table = connection.prepareStatement(TABLE)) {
      table.execute();
    }
  }

  /**
   * Runs the work if it is not done yet and no other process does it. If the work throws, nothing
   * is stored, and the next start runs it again.
   *
   * @throws StaleTokenException if another process got the lock meanwhile; nothing was stored
   */
  Outcome start(String period, Work work) throws Exception {
    Optional<Lease> granted = redlock.lock("job:" + job, options).tryAcquire();
    if (granted.isEmpty()) {
      return Outcome.HELD_ELSEWHERE;
    }
    try (Lease lease = granted.get()) {
      long token = lease.fencingToken().value();
      if (claim(period, token)) {
        return Outcome.DONE_BEFORE;
      }
      try (Connection transaction = database.getConnection()) {
        transaction.setAutoCommit(false);
        work.run(transaction, lease);
        mark(transaction, period, token); // throws, and so rolls back, if the token is too low
        transaction.commit();
        return Outcome.DONE;
      }
    }
  }

  /** Shows the token to the row, and returns whether the work is done. */
  private boolean claim(String period, long token) throws SQLException {
    try (Connection connection = database.getConnection();
        PreparedStatement add = connection.prepareStatement(ADD);
        PreparedStatement raise = connection.prepareStatement(RAISE);
        PreparedStatement isDone = connection.prepareStatement(IS_DONE)) {
      bind(add, job, period, job, period).executeUpdate();
      if (bind(raise, token, job, period, token).executeUpdate() == 0) {
        throw new StaleTokenException(job + " " + period, token);
      }
      try (var row = bind(isDone, job, period).executeQuery()) {
        row.next();
        return row.getBoolean(1);
      }
    }
  }

  private void mark(Connection transaction, String period, long token) throws SQLException {
    try (PreparedStatement mark = transaction.prepareStatement(MARK)) {
      if (bind(mark, job, period, token).executeUpdate() == 0) {
        throw new StaleTokenException(job + " " + period, token);
      }
    }
  }

  private static PreparedStatement bind(PreparedStatement statement, Object... values)
      throws SQLException {
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    return statement;
  }
}
