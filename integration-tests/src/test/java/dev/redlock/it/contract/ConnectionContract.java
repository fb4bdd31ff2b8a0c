package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.it.contract.NodeUnderTest.Feature;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The connection of a node: start, loss and reconnect. */
abstract class ConnectionContract extends NodeContract {
  private static final Duration LONGEST = Duration.ofSeconds(30);

  @AfterEach
  void endFaults() {
    server().endFaults();
  }

  private static void assertFailed(NodeReply reply, NodeError.Kind kind) {
    assertThat(reply.code()).as(reply.toString()).isEqualTo(Code.FAILED);
    assertThat(reply.error()).as(reply.toString()).isNotNull();
    assertThat(reply.error().kind()).as(reply.toString()).isEqualTo(kind);
  }

  @Test
  void start_returnsAtOnce_andStatesAreReported() {
    assertThat(client.node.status().state()).isEqualTo(State.VOTING);
    Awaitility.await()
        .untilAsserted(
            () -> assertThat(client.statuses).extracting(NodeStatus::state).endsWith(State.VOTING));
    assertThat(client.node.status().connection()).isPositive();
  }

  @Test
  void beforeStart_requestsFail() {
    LockNode unstarted = server().newNode();
    CompletableFuture<NodeReply> answer = new CompletableFuture<>();
    unstarted.send(new LockRequest.Inspect(fresh(), true), answer::complete);
    assertFailed(answer.join(), NodeError.Kind.DISCONNECTED);
    unstarted.close();
  }

  @Test
  void close_failsOpenRequests_andRefusesNewOnes() {
    needs(Feature.PAUSES);
    server().pause();
    List<CompletableFuture<NodeReply>> unanswered = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      unanswered.add(client.send(new LockRequest.Inspect(fresh(), true)));
    }

    client.close();
    client.close();

    for (CompletableFuture<NodeReply> answer : unanswered) {
      assertThat(answer.orTimeout(2, TimeUnit.SECONDS).join().code()).isEqualTo(Code.FAILED);
    }
    assertFailed(client.inspect(fresh()), NodeError.Kind.CLOSED);
    assertThat(client.node.status().usable()).isFalse();
  }

  @Test
  void killed_failsOpenRequests_andRefusesNewOnesAtOnce() {
    needs(Feature.CRASHES);
    long before = client.node.status().connection();
    server().pause();
    List<CompletableFuture<NodeReply>> unanswered = new ArrayList<>();
    AtomicInteger answers = new AtomicInteger();
    for (int i = 0; i < 1_000; i++) {
      CompletableFuture<NodeReply> answer = new CompletableFuture<>();
      client.node.send(
          new LockRequest.Inspect(fresh(), true),
          reply -> {
            answers.incrementAndGet();
            answer.complete(reply);
          });
      unanswered.add(answer);
    }

    server().kill();

    for (CompletableFuture<NodeReply> answer : unanswered) {
      assertFailed(answer.orTimeout(2, TimeUnit.SECONDS).join(), NodeError.Kind.DISCONNECTED);
    }
    NodeStatus down = client.awaitStatus(status -> !status.usable());
    assertThat(down.connection()).as("earlier answers no longer count").isGreaterThan(before);
    assertThat(down.cause()).isNotEmpty();
    CompletableFuture<NodeReply> refused = client.send(new LockRequest.Inspect(fresh(), true));
    assertThat(refused).as("refused before send returns").isCompleted();
    assertFailed(refused.join(), NodeError.Kind.DISCONNECTED);
    assertThat(answers).hasValue(1_000);
  }

  @Test
  void downAtStart_joinsWhenItStarts() {
    needs(Feature.CRASHES);
    server().kill();
    TestClient late =
        closing(TestClient.startOnly(server().newNode(), RestartGuard.OFF, TestClient.MAX_LEASE));
    assertFailed(late.inspect(fresh()), NodeError.Kind.DISCONNECTED);

    server().restart();

    late.awaitStatus(status -> status.state() == State.VOTING);
    assertCode(late.inspect(fresh()), Code.NOT_OWNER);
  }

  @Test
  void requestWithoutReply_isNeverSentAgain() {
    needs(Feature.CRASHES);
    LockKeys keys = fresh();
    long token = client.now();
    server().pause();
    CompletableFuture<NodeReply> lost =
        client.send(new LockRequest.Acquire(keys, ME, token, TTL, null));
    server().kill();
    assertFailed(lost.orTimeout(2, TimeUnit.SECONDS).join(), NodeError.Kind.DISCONNECTED);

    server().restart();
    client.awaitStatus(NodeStatus::usable);
    client.inspect(keys);

    assertFree(keys);
  }

  @Test
  void restarted_isANewConnection_andQuarantinedForTheLongestLease() {
    needs(Feature.CRASHES);
    TestClient guarded =
        closing(TestClient.start(server().newNode(), RestartGuard.UPTIME, LONGEST));
    long before = guarded.node.status().connection();

    long begin = TestClient.TIME.nanos();
    server().restart();
    NodeStatus back =
        guarded.awaitStatus(status -> status.usable() && status.connection() > before);

    assertThat(back.state()).as(back.toString()).isEqualTo(State.QUARANTINED);
    assertThat(back.sinceNanos()).isBetween(begin, TestClient.TIME.nanos());
    assertThat(Duration.ofNanos(back.untilNanos() - back.sinceNanos()))
        .isBetween(LONGEST.minusSeconds(2), LONGEST.plusSeconds(3));
    assertThat(back.cause()).isNotEmpty();
    LockKeys keys = fresh();
    assertCode(guarded.acquire(keys, ME, guarded.now(), TTL), Code.GRANTED);
  }

  @Test
  void young_isQuarantined_untilTheShortestGuardIsOver() {
    needs(Feature.CRASHES);
    server().restart();
    TestClient guarded =
        closing(TestClient.start(server().newNode(), RestartGuard.UPTIME, LONGEST));

    NodeStatus status = guarded.node.status();
    assertThat(status.state()).as(status.toString()).isEqualTo(State.QUARANTINED);
    assertThat(status.untilNanos() - TestClient.TIME.nanos())
        .isGreaterThan(TimeUnit.SECONDS.toNanos(25));
  }

  @Test
  void flushed_isQuarantined() {
    needs(Feature.INVALIDATIONS);
    needs(Feature.CRASHES);
    server().restart();
    TestClient guarded =
        closing(TestClient.start(server().newNode(), RestartGuard.UPTIME, LONGEST));
    NodeStatus young = guarded.node.status();
    assertThat(young.state()).isEqualTo(State.QUARANTINED);

    server().flush();

    // A cluster is quarantined from the time at which its last master was flushed.
    NodeStatus flushed =
        guarded.awaitStatus(
            status ->
                status.connection() > young.connection()
                    && status.untilNanos() > young.untilNanos());
    assertThat(flushed.state()).isEqualTo(State.QUARANTINED);
    assertThat(flushed.sinceNanos()).isGreaterThan(young.sinceNanos());
  }

  @Test
  void forgottenScripts_areSentWithTheRequest_whichDoesNotFail() {
    needs(Feature.SCRIPTS);
    LockKeys keys = fresh();
    long token = client.now();
    assertCode(client.acquire(keys, ME, token, TTL), Code.GRANTED);
    // For a user without the permission to load scripts, the client sends the text at the first
    // use.
    assertCode(client.extend(keys, ME, token, TTL), Code.EXTENDED);
    for (int i = 0; i < 20; i++) {
      server().forgetScripts();
      assertCode(client.extend(keys, ME, token, TTL), Code.EXTENDED);
      assertCode(client.extend(keys, ME, token, TTL), Code.EXTENDED);
    }
  }

  /** An acquire that is sent again after the release that undoes it would leave its key. */
  @Test
  void acquireWithoutScript_itsReleaseIsOnTheWire_leavesNoKey() {
    needs(Feature.SCRIPTS);
    for (int i = 0; i < 50; i++) {
      LockKeys keys = fresh();
      long token = client.now();
      server().forgetScripts();
      CompletableFuture<NodeReply> acquired =
          client.send(new LockRequest.Acquire(keys, ME, token, TTL, null));
      CompletableFuture<NodeReply> released =
          client.send(new LockRequest.Release(keys, ME, token, false, 0, null));
      NodeReply undone = released.orTimeout(2, TimeUnit.SECONDS).join();
      assertThat(undone.code().definite()).as(undone.toString()).isTrue();
      NodeReply reply = acquired.orTimeout(2, TimeUnit.SECONDS).join();
      // The client sent the acquire again before it sent the release.
      if (reply.code() != Code.GRANTED) {
        assertThat(reply.error()).isNotNull();
        assertThat(reply.error().kind()).isEqualTo(NodeError.Kind.NO_SCRIPT);
        assertThat(reply.error().notExecuted()).isTrue();
      }
      assertCode(client.inspect(keys), Code.NOT_OWNER);
    }
  }

  @Test
  void handlerThatThrows_doesNotBreakTheConnection() {
    long before = client.node.status().connection();
    for (int i = 0; i < 3; i++) {
      client.node.send(
          new LockRequest.Inspect(fresh(), true),
          reply -> {
            throw new IllegalStateException("thrown by the test, on purpose");
          });
    }
    assertCode(client.inspect(fresh()), Code.NOT_OWNER);
    assertThat(client.node.status().connection()).isEqualTo(before);
  }

  @Test
  void requestsOfSeveralThreads_areExecutedInTheOrderSent() {
    // This thread's release waits to be written while the I/O thread, busy in a handler, sends the
    // next acquire, which must not be written first.
    LockKeys keys = fresh();
    long token = client.now();
    assertCode(client.acquire(keys, "lease0", token, TTL), Code.GRANTED);
    for (int i = 1; i <= 50; i++) {
      LockRequest next = new LockRequest.Acquire(keys, "lease" + i, token + i, TTL, null);
      CompletableFuture<NodeReply> granted = new CompletableFuture<>();
      CountDownLatch busy = new CountDownLatch(1);
      CountDownLatch releaseSent = new CountDownLatch(1);
      client.node.send(
          new LockRequest.Inspect(keys, true),
          inspected -> {
            busy.countDown();
            await(releaseSent);
            client.node.send(next, granted::complete);
          });
      await(busy);
      CompletableFuture<NodeReply> released =
          client.send(
              new LockRequest.Release(keys, "lease" + (i - 1), token + i - 1, true, 0, null));
      releaseSent.countDown();
      assertCode(released.orTimeout(2, TimeUnit.SECONDS).join(), Code.RELEASED);
      assertCode(granted.orTimeout(2, TimeUnit.SECONDS).join(), Code.GRANTED);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(2, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void paused_thenResumed_answersEverythingOnce() {
    needs(Feature.PAUSES);
    server().pause();
    List<CompletableFuture<NodeReply>> unanswered = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      unanswered.add(client.send(new LockRequest.Inspect(fresh(), true)));
    }
    server().resume();
    for (CompletableFuture<NodeReply> answer : unanswered) {
      assertCode(answer.orTimeout(5, TimeUnit.SECONDS).join(), Code.NOT_OWNER);
    }
  }
}
