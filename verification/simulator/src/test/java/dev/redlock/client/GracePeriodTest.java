package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.RedlockClosedException;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.SimulatedBuilder;
import dev.redlock.harness.CapturedLog;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.testkit.internal.Waiting;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What holders, waiters and other clients see of a client that closes with a grace period. */
@Timeout(120)
class GracePeriodTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  /** A close that takes so long has not seen the event that ends it; the timeout reports it. */
  private static final Duration LONG = Duration.ofMinutes(5);

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };
  private final CapturedLog log = new CapturedLog();
  private final Redlock other = client().build();

  @AfterEach
  void stop() {
    log.close();
    other.close();
  }

  private RedlockBuilder client() {
    return SimulatedBuilder.on(nodes);
  }

  /** Closes the client on another thread, and returns when it refuses callers. */
  private static CompletableFuture<Void> closing(Redlock client, Duration grace) {
    CompletableFuture<Void> closed = CompletableFuture.runAsync(() -> client.close(grace));
    Waiting.until("the client refuses callers", WAIT, () -> refuses(client));
    return closed;
  }

  private static boolean refuses(Redlock client) {
    try {
      client.lock("probe").tryAcquire().ifPresent(Lease::close);
      return false;
    } catch (RedlockClosedException e) {
      return true;
    }
  }

  private static void soon(CompletableFuture<?> future) throws Exception {
    future.get(WAIT.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void close_whileALeaseIsHeld_returnsWhenItsHolderHasReleasedIt() throws Exception {
    Redlock client = client().build();
    Lease lease = client.lock("job").acquire(WAIT);
    CompletableFuture<Void> closed = closing(client, LONG);
    assertThat(lease.isValid()).isTrue();
    assertThat(other.lock("job").tryAcquire()).isEmpty();
    soon(client.operations().inspect("job").toCompletableFuture());
    assertThat(closed).isNotDone();
    lease.close();
    soon(closed);
    assertThat(lease.whenEnded().toCompletableFuture()).isCompletedWithValue(LeaseEnd.RELEASED);
    assertThat(log.lines(Level.WARN, "closing the client")).isEmpty();
  }

  @Test
  void close_whoseGracePeriodHasPassed_releasesTheLeasesAndNamesThemInTheLog() {
    Redlock client = client().build();
    Lease lease = client.lock("job").acquire(WAIT);
    client.close(Duration.ofMillis(50));
    assertThat(lease.isValid()).isFalse();
    assertThat(lease.whenEnded().toCompletableFuture()).isCompletedWithValue(LeaseEnd.CLOSED);
    other.lock("job").acquire(WAIT).close();
    assertThat(log.lines(Level.WARN, "[job]")).isNotEmpty();
  }

  @Test
  void close_whoseGracePeriodIsNegative_isRejected() {
    assertThatThrownBy(() -> other.close(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("grace -1 ms ");
  }

  @Test
  void waiters_whenTheGracePeriodBegins_failAtOnce() throws Exception {
    Redlock client = client().build();
    Lease lease = client.lock("job").acquire(WAIT);
    CompletableFuture<Lease> waiter = client.lock("job").acquireAsync(WAIT);
    CompletableFuture<Void> closed = closing(client, LONG);
    assertThatThrownBy(() -> soon(waiter)).hasCauseInstanceOf(RedlockClosedException.class);
    assertThat(lease.isValid()).isTrue();
    lease.close();
    soon(closed);
  }

  @Test
  void close_withoutGracePeriod_endsThatOfAnotherThread() throws Exception {
    Redlock client = client().build();
    Lease lease = client.lock("job").acquire(WAIT);
    CompletableFuture<Void> closed = closing(client, LONG);
    client.close();
    assertThat(lease.isValid()).isFalse();
    soon(closed);
  }

  @Test
  void close_ofAThreadThatIsInterrupted_endsTheGracePeriodAndKeepsTheFlag() {
    Redlock client = client().build();
    Lease lease = client.lock("job").acquire(WAIT);
    Thread.currentThread().interrupt();
    client.close(LONG);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(lease.isValid()).isFalse();
    assertThat(log.lines(Level.WARN, "[job]")).anyMatch(line -> line.contains("interrupted"));
  }

  @Test
  void close_fromTheMiddleOfAQueue_returnsAndTheLeaseGoesOn() throws Exception {
    Redlock client = client().callbackExecutor(Runnable::run).build();
    Lease first = client.lock("job").acquire(WAIT);
    CompletableFuture<Lease> granted = new CompletableFuture<>();
    client
        .lock("job")
        .acquireAsync(WAIT)
        .thenAccept(
            lease -> {
              client.close(LONG);
              granted.complete(lease);
            });
    first.close(); // Hands the lock off, and runs the callback.
    Lease lease = granted.get(WAIT.toSeconds(), TimeUnit.SECONDS);
    assertThat(lease.isValid()).isTrue();
    lease.close();
    client.close();
  }

  @Test
  void close_whileAReentrantLockIsHeld_letsItsThreadEnterAgain() throws Exception {
    Redlock client = client().build();
    ReentrantDistributedLock lock = client.reentrantLock("job");
    lock.lock();
    CompletableFuture<Void> closed = closing(client, LONG);
    lock.lock();
    assertThat(lock.holdCount()).isEqualTo(2);
    lock.unlock();
    assertThat(closed).isNotDone();
    lock.unlock();
    soon(closed);
  }

  @Test
  void body_thatOutlivesTheCloseOfItsClient_endsWithALeaseLostException() {
    for (Duration grace : new Duration[] {Duration.ZERO, Duration.ofMillis(20)}) {
      Redlock client = client().build();
      CountDownLatch closed = new CountDownLatch(1);
      LeaseLostException lost =
          catchThrowableOfType(
              LeaseLostException.class,
              () ->
                  client
                      .lock("body")
                      .withLock(
                          WAIT,
                          lease -> {
                            new Thread(
                                    () -> {
                                      client.close(grace);
                                      closed.countDown();
                                    })
                                .start();
                            awaitQuietly(closed);
                            return "done";
                          }));
      assertThat(lost).isNotNull();
      assertThat(lost.end()).isEqualTo(LeaseEnd.CLOSED);
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(WAIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
