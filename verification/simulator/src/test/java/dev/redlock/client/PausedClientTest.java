package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.redlock.AcquireVerdict;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.harness.ForwardingLockNode;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * After a pause of the client, its timers are due before it has read the replies in its sockets.
 */
class PausedClientTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration PAUSE = Duration.ofMillis(300);

  /** When the replies are read after a pause. */
  private static final Duration READ = Duration.ofMillis(20);

  private static final Duration MILLI = Duration.ofMillis(1);

  /**
   * A node whose replies stay in the socket until the client reads them, for example while the
   * client is paused.
   */
  private static final class Socket extends ForwardingLockNode {
    private final List<Runnable> arrived = new ArrayList<>();
    private boolean paused;

    Socket(LockNode node) {
      super(node);
    }

    @Override
    public void send(LockRequest request, Consumer<NodeReply> handler) {
      super.send(
          request,
          reply -> {
            if (paused) {
              arrived.add(() -> handler.accept(reply));
            } else {
              handler.accept(reply);
            }
          });
    }

    private void read() {
      paused = false;
      List<Runnable> now = List.copyOf(arrived);
      arrived.clear();
      now.forEach(Runnable::run);
    }
  }

  private final VirtualTime time = new VirtualTime();
  private final List<Socket> sockets =
      Stream.of("a", "b", "c", "d", "e")
          .map(
              name -> {
                InMemoryLockNode node = InMemoryLockNode.create(name);
                node.delay(VirtualNodes.ROUND_TRIP);
                return new Socket(node);
              })
          .toList();
  private final Redlock client =
      Redlock.builder()
          .nodes(sockets.toArray(LockNode[]::new))
          .restartGuard(RestartGuard.OFF)
          .callbackExecutor(Runnable::run)
          .time(time)
          .build();

  private final DistributedLock lock =
      client.lock("x", LockOptions.builder().leaseTime(Duration.ofSeconds(20)).build());

  @AfterEach
  void close() {
    time.pass(LONG);
    time.runAway();
    client.close();
  }

  private Lease held() {
    time.pass(Duration.ofSeconds(1));
    CompletableFuture<Lease> asked = lock.acquireAsync(LONG);
    time.passUntil(asked::isDone, LONG);
    return asked.join();
  }

  /**
   * The nodes reply to all requests while the client is paused. Then all its timers are late, and
   * run before it reads the replies.
   */
  private void pause() {
    stop();
    time.schedule(() -> sockets.forEach(Socket::read), READ.toNanos());
  }

  private void stop() {
    sockets.forEach(socket -> socket.paused = true);
    time.pause(PAUSE, VirtualNodes.ROUND_TRIP.multipliedBy(2));
  }

  @Test
  void release_clientIsPausedWhileTheAnswersCome_isConfirmed() {
    Lease lease = held();
    CompletableFuture<Void> released = lease.releaseAsync().toCompletableFuture();
    pause();
    time.passUntil(released::isDone, LONG);
    assertThat(catchThrowable(released::join)).isNull();
  }

  @Test
  void release_clientIsPausedAgainBeforeItReads_isConfirmed() {
    Lease lease = held();
    CompletableFuture<Void> released = lease.releaseAsync().toCompletableFuture();
    stop();
    time.pass(MILLI.multipliedBy(5)); // The late timers wait.
    stop();
    time.schedule(() -> sockets.forEach(Socket::read), READ.toNanos());
    time.passUntil(released::isDone, LONG);
    assertThat(catchThrowable(released::join)).isNull();
  }

  @Test
  void release_timeoutIsInTimeSoonAfterThePause_isConfirmed() {
    LockOptions options = LockOptions.builder().nodeTimeout(MILLI.multipliedBy(100)).build();
    time.pass(Duration.ofSeconds(1));
    List<Lease> leases = new ArrayList<>();
    for (String name : List.of("y", "z")) {
      CompletableFuture<Lease> asked = client.lock(name, options).acquireAsync(LONG);
      time.passUntil(asked::isDone, LONG);
      leases.add(asked.join());
    }
    sockets.forEach(socket -> socket.paused = true);
    var late = leases.get(0).releaseAsync().toCompletableFuture();
    time.pass(MILLI.multipliedBy(10));
    var inTime = leases.get(1).releaseAsync().toCompletableFuture();
    time.pause(MILLI.multipliedBy(99), MILLI.multipliedBy(5));
    time.schedule(() -> sockets.forEach(Socket::read), READ.toNanos());
    time.passUntil(() -> late.isDone() && inTime.isDone(), LONG);
    assertThat(catchThrowable(late::join)).isNull();
    assertThat(catchThrowable(inTime::join)).isNull();
  }

  @Test
  void release_nodesHaveNotReplied_failsAfterTheGrace() {
    Lease lease = held();
    CompletableFuture<Void> released = lease.releaseAsync().toCompletableFuture();
    stop();
    time.pass(MILLI.multipliedBy(24));
    assertThat(released).isNotDone();
    time.pass(MILLI);
    assertThat(released).isCompletedExceptionally();
  }

  @Test
  void release_clientIsPausedAgainAndAgain_failsAfterTheSecondGrace() {
    Lease lease = held();
    CompletableFuture<Void> released = lease.releaseAsync().toCompletableFuture();
    stop();
    time.pass(MILLI.multipliedBy(5));
    stop();
    time.pass(MILLI.multipliedBy(5));
    assertThat(released).as("in its second grace").isNotDone();
    stop();
    time.pass(Duration.ZERO);
    assertThat(released).isCompletedExceptionally();
  }

  @Test
  void extend_clientIsPausedWhileTheAnswersCome_isAskedAgainAndDone() {
    Lease lease = held();
    time.pass(Duration.ofSeconds(2));
    CompletableFuture<Void> extended = lease.extendAsync().toCompletableFuture();
    pause();
    time.passUntil(extended::isDone, LONG);
    assertThat(catchThrowable(extended::join)).isNull();
    // By a request after the pause: the earlier replies are too old to count.
    assertThat(lease.remainingValidity()).isGreaterThan(Duration.ofSeconds(19));
    lease.releaseAsync();
  }

  @Test
  void acquire_clientIsPausedWhileTheAnswersCome_isAskedAgainAndGranted() {
    time.pass(Duration.ofSeconds(1));
    CompletableFuture<Lease> asked = lock.acquireAsync(LONG);
    pause();
    time.passUntil(asked::isDone, LONG);
    assertThat(asked.join().isValid()).isTrue();
    asked.join().releaseAsync();
  }

  @Test
  void tryAcquire_clientIsPausedWhileTheAnswersCome_isTooSlowAndNoOutage() {
    held().releaseAsync();
    time.pass(Duration.ofSeconds(1));
    CompletableFuture<?> asked = lock.tryAcquireAsync();
    pause();
    time.passUntil(asked::isDone, LONG);
    Throwable failure = catchThrowable(asked::join);
    assertThat(failure).isInstanceOf(CompletionException.class);
    assertThat(failure.getCause())
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("too slow")
        .hasMessageContaining("this client was paused for at least");
    assertThat(((LockTimeoutException) failure.getCause()).report().verdict())
        .isEqualTo(AcquireVerdict.TOO_SLOW);
  }
}
