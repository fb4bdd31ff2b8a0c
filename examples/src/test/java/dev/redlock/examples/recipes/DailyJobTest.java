package dev.redlock.examples.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.examples.fencing.StaleTokenException;
import dev.redlock.examples.recipes.DailyJob.Outcome;
import dev.redlock.testkit.RedisNodes;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DailyJobTest {
  /** A pause of the machine must not cause the refusal of a single try. */
  private static final LockOptions PAUSED =
      LockOptions.builder()
          .leaseTime(Duration.ofSeconds(2))
          .nodeTimeout(Duration.ofSeconds(1))
          .autoExtend(false)
          .build();

  private static RedisNodes nodes;
  private static Redlock left;
  private static Redlock right;

  private JdbcDataSource database;

  @BeforeAll
  static void start() {
    nodes = RedisNodes.start(3);
    left = Clients.connect(nodes.uris());
    right = Clients.connect(nodes.uris());
  }

  @AfterAll
  static void stop() {
    left.close();
    right.close();
    nodes.close();
  }

  @BeforeEach
  void tables() throws Exception {
    database = Recipes.database();
    Recipes.execute(database, "CREATE TABLE mails (period VARCHAR(100))");
  }

  @Test
  void start_ofManyProcessesInManyPeriods_hasItsEffectOncePerPeriod() throws Exception {
    int periods = 10;
    for (int period = 0; period < periods; period++) {
      String name = "day " + period;
      List<Callable<Outcome>> starts = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        DailyJob job = job(i % 2 == 0 ? left : right, left.defaultOptions());
        starts.add(() -> job.start(name, (transaction, lease) -> mail(transaction, name)));
      }
      List<Outcome> outcomes = Recipes.inParallel(starts);
      // If the votes are split, all of them may find the lock taken. The next start then does the
      // work.
      Outcome last = starts.get(0).call();

      assertThat(outcomes.stream().filter(Outcome.DONE::equals).count()).isLessThanOrEqualTo(1);
      assertThat(last)
          .isEqualTo(outcomes.contains(Outcome.DONE) ? Outcome.DONE_BEFORE : Outcome.DONE);
    }

    assertThat(mails()).isEqualTo(periods);
    assertThat(Recipes.count(database, "SELECT COUNT(DISTINCT period) FROM mails"))
        .isEqualTo(periods);
  }

  @Test
  void start_afterWorkThatFailed_runsItAgain() throws Exception {
    DailyJob job = job(left, left.defaultOptions());
    assertThatThrownBy(
            () ->
                job.start(
                    "day",
                    (transaction, lease) -> {
                      mail(transaction, "day");
                      throw new IllegalStateException("on purpose");
                    }))
        .hasMessage("on purpose");
    assertThat(mails()).as("rolled back").isZero();

    assertThat(job.start("day", (transaction, lease) -> mail(transaction, "day")))
        .isEqualTo(Outcome.DONE);
    assertThat(mails()).isEqualTo(1);
  }

  @Test
  void start_ofAProcessThatIsPausedWhileAnotherDoesTheWork_storesNothing() throws Exception {
    DailyJob paused = job(left, PAUSED);
    DailyJob other = job(right, right.defaultOptions());
    AtomicReference<Outcome> second = new AtomicReference<>();

    assertThatThrownBy(
            () ->
                paused.start(
                    "day",
                    (transaction, lease) -> {
                      lease.whenEnded().toCompletableFuture().join();
                      second.set(untilFree(other));
                      mail(transaction, "day");
                    }))
        .isInstanceOf(StaleTokenException.class);
    assertThat(second).hasValue(Outcome.DONE);
    assertThat(mails()).isEqualTo(1);
  }

  /** The nodes keep the key a little longer than the lease is valid. */
  private static Outcome untilFree(DailyJob job) throws Exception {
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (true) {
      Outcome outcome = job.start("day", (transaction, lease) -> mail(transaction, "day"));
      if (outcome != Outcome.HELD_ELSEWHERE || System.nanoTime() - deadline > 0) {
        return outcome;
      }
      Thread.onSpinWait();
    }
  }

  private DailyJob job(Redlock redlock, LockOptions options) throws SQLException {
    return new DailyJob(redlock, database, "mails", options);
  }

  private static void mail(Connection transaction, String period) throws SQLException {
    try (Statement statement = transaction.createStatement()) {
      statement.execute("INSERT INTO mails VALUES ('" + period + "')");
    }
  }

  private int mails() throws Exception {
    return Recipes.count(database, "SELECT COUNT(*) FROM mails");
  }
}
