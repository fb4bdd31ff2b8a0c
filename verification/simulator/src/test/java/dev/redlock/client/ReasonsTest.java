package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.harness.CapturedLog;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a failed acquire and a client that starts say to people who have just begun. */
@Timeout(60)
class ReasonsTest {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(300);

  private final InMemoryLockNode node = InMemoryLockNode.create("a");
  private final Redlock redlock = builder(node).build();

  private static RedlockBuilder builder(InMemoryLockNode... nodes) {
    return Redlock.builder()
        .nodes(nodes)
        .nodeTimeout(Duration.ofSeconds(1))
        .restartGuard(RestartGuard.OFF);
  }

  @AfterEach
  void close() {
    redlock.close();
  }

  private static LockTimeoutException timeout(Runnable acquire) {
    return catchThrowableOfType(LockTimeoutException.class, acquire::run);
  }

  @Test
  void lockThatTheSameClientHolds_saysSo_withItsToken_andWhatToDo() {
    try (Lease lease = redlock.lock("stock").acquire(WAIT)) {
      LockTimeoutException nested = timeout(() -> redlock.lock("stock").acquire(SHORT));
      assertThat(nested)
          .hasMessageContaining("held by this client since ")
          .hasMessageContaining("(token " + lease.fencingToken().value() + ")")
          .hasMessageContaining("not reentrant: pass the lease, or use reentrantLock");
      assertThat(nested.report().ownLease().token()).isEqualTo(lease.fencingToken().value());

      LockTimeoutException both =
          timeout(() -> redlock.lock(List.of("order", "stock")).acquire(SHORT));
      assertThat(both).hasMessageContaining("held by this client since ");
    }
  }

  @Test
  void lockThatAnotherClientHolds_saysThat() {
    try (Redlock other = builder(node.another()).build();
        Lease lease = other.lock("stock").acquire(WAIT)) {
      LockTimeoutException refused = timeout(() -> redlock.lock("stock").acquire(SHORT));
      assertThat(refused).hasMessageContaining("held by another client");
      assertThat(refused.report().ownLease()).isNull();
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void timedTryLock_behindAnotherCallerOfThisClient_isFalse_beforeTheNodesReply() throws Exception {
    redlock.lock("stock").acquire(WAIT).close(); // Connected.
    node.hang();
    CompletableFuture<Lease> first = redlock.lock("stock").acquireAsync(WAIT);
    assertThat(redlock.reentrantLock("stock").tryLock(5, TimeUnit.MILLISECONDS)).isFalse();
    node.resume();
    first.get().close();
  }

  @Test
  void acquireThatCouldAskNoNode_countsNoRound() {
    redlock.lock("stock").acquire(WAIT).close();
    node.kill();
    assertThatThrownBy(() -> redlock.lock("stock").acquire(SHORT))
        .hasMessageContaining(", 0 rounds)");
  }

  @Test
  void evenNumberOfNodes_isWarnedOf() {
    try (CapturedLog log = new CapturedLog();
        Redlock even =
            builder(InMemoryLockNode.create("b"), InMemoryLockNode.create("c")).build()) {
      assertThat(log.events(Level.WARN, "2 nodes tolerate as many failures as 1")).hasSize(1);
      assertThat(even.operations().nodes()).hasSize(2);
    }
  }

  @Test
  void argumentThatIsNull_isNamed() {
    assertThatThrownBy(() -> redlock.lock("stock").acquire(null)).hasMessage("waitTimeout");
    assertThatThrownBy(() -> redlock.lock((String) null)).hasMessageContaining("name");
    assertThatThrownBy(() -> redlock.reentrantLock(null)).hasMessageContaining("name");
    assertThatThrownBy(() -> Redlock.builder().nodes((String) null)).hasMessage("uri");
    assertThatThrownBy(() -> Redlock.builder().nodes((InMemoryLockNode) null)).hasMessage("node");
    assertThatThrownBy(() -> Redlock.builder().label(null)).hasMessage("label");
  }
}
