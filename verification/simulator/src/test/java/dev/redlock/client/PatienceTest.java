package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.AcquireVerdict;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The failure of an acquire: an outage only if a quorum of nodes is down, otherwise a timeout. */
class PatienceTest {
  private static final Duration WAIT = Duration.ofSeconds(5);

  private final VirtualNodes nodes = new VirtualNodes(5);

  @AfterEach
  void close() {
    nodes.close();
  }

  private Throwable failure(CompletableFuture<?> asked) {
    nodes.time().passUntil(asked::isDone, Duration.ofMinutes(1));
    Throwable thrown = catchThrowable(asked::join);
    assertThat(thrown).isInstanceOf(CompletionException.class);
    return Objects.requireNonNull(thrown.getCause());
  }

  private AcquireReport timeout(CompletableFuture<?> asked) {
    Throwable failure = failure(asked);
    assertThat(failure).isInstanceOf(LockTimeoutException.class);
    return ((LockTimeoutException) failure).report();
  }

  private AcquireReport outage(CompletableFuture<?> asked) {
    Throwable failure = failure(asked);
    assertThat(failure).isInstanceOf(QuorumUnavailableException.class);
    return ((QuorumUnavailableException) failure).report();
  }

  private Lease held(Redlock client, String name) {
    CompletableFuture<Lease> asked = client.lock(name).acquireAsync(WAIT);
    nodes.time().passUntil(asked::isDone, WAIT);
    return asked.join();
  }

  @Test
  void acquire_patienceEndsAmongTheVotes_isATimeoutAndNoOutage() {
    DistributedLock lock = nodes.client().lock("a");
    for (int i = 0; i < 5; i++) {
      nodes.node(i).delay(Duration.ofMillis(1 + 2L * i));
    }
    AcquireReport report = timeout(lock.acquireAsync(Duration.ofMillis(4)));
    assertThat(report.verdict()).isEqualTo(AcquireVerdict.UNDECIDED);
    assertThat(report.count(Vote.SILENT)).as(report.sentence()).isEqualTo(3);
    assertThat(report.sentence()).contains("wait timeout").doesNotContain("too few nodes");
    nodes.time().pass(WAIT);
    assertThat(nodes.holding("a")).isZero();
  }

  @Test
  void acquire_patienceEndsWhileTheHomeNodeIsAsked_reportsTheHolder() {
    Lease lease = held(nodes.client(), "a");
    DistributedLock lock = nodes.client().lock("a");
    for (int wait = 1; wait < 400; wait += 7) {
      AcquireReport report = timeout(lock.acquireAsync(Duration.ofMillis(wait)));
      assertThat(report.verdict()).as("after %s ms", wait).isEqualTo(AcquireVerdict.HELD);
    }
    lease.releaseAsync();
  }

  @Test
  void acquire_mostNodesAreHungAllTheTime_isAnOutageWheneverPatienceEnds() {
    DistributedLock lock = nodes.client().lock("a");
    for (int i = 0; i < 3; i++) {
      nodes.node(i).hang();
    }
    Duration nodeTimeout = lock.options().nodeTimeout();
    for (int i = 0; i < 20; i++) {
      Duration wait = nodeTimeout.multipliedBy(5).plusMillis(37L * i);
      assertThat(outage(lock.acquireAsync(wait)).verdict()).isEqualTo(AcquireVerdict.UNAVAILABLE);
    }
  }

  @Test
  void report_mostNodesAreDead_saysThatTheOthersWereNotAsked() {
    DistributedLock lock = nodes.client().lock("a");
    for (int i = 0; i < 3; i++) {
      nodes.node(i).kill();
    }
    AcquireReport report = outage(lock.tryAcquireAsync());
    assertThat(report.count(Vote.NOT_ASKED)).isEqualTo(2);
    assertThat(report.count(Vote.SILENT)).isEqualTo(3);
    assertThat(report.sentence()).contains("2 of 5 could be asked, 3 are needed");
  }

  @Test
  void report_answersComeAfterTheNodeTimeout_namesIt() {
    DistributedLock lock = nodes.client().lock("a");
    Duration nodeTimeout = lock.options().nodeTimeout();
    for (int i = 0; i < 5; i++) {
      nodes.node(i).delay(nodeTimeout.plusMillis(1));
    }
    AcquireReport report = outage(lock.acquireAsync(nodeTimeout.plusMillis(40)));
    assertThat(report.count(Vote.SILENT)).isEqualTo(5);
    assertThat(report.sentence())
        .contains("0 of 5 voted in time")
        .contains("came later than the node timeout of " + nodeTimeout.toMillis() + " ms")
        .doesNotContain("paused");
  }
}
