package dev.redlock.it.contract;

import static dev.redlock.it.contract.TestClient.MAX_LEASE;
import static java.util.concurrent.CompletableFuture.completedStage;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.it.LeastUser;
import dev.redlock.lettuce.Credentials;
import dev.redlock.lettuce.LettuceLockNode;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Specific to the node on Lettuce: users, roles, threads, and connections that die silently. */
@Tag("thorough")
class StandaloneNodeIT {
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private <T extends AutoCloseable> T closing(T it) {
    open.add(it);
    return it;
  }

  private RedisNode server() {
    return closing(RedisNodes.start(1)).get(0);
  }

  private TestClient connect(LockNode node) {
    return closing(TestClient.startOnly(node, RestartGuard.OFF, MAX_LEASE));
  }

  private static String as(RedisNode server, String user, String password) {
    return server.uri().replace("redis://", "redis://" + user + ":" + password + "@");
  }

  /** The permissions of the page without INFO, and further permissions. */
  private static void setLeast(RedisNode server, String... more) {
    server.command(
        Stream.concat(
                Arrays.stream(LeastUser.command()).filter(word -> !word.equals("+info")),
                Arrays.stream(more))
            .toArray(String[]::new));
  }

  private static void lockAndRelease(TestClient client) {
    LockKeys keys = NodeContract.fresh();
    long token = client.now();
    assertThat(client.acquire(keys, "me", token, 5_000).code()).isEqualTo(Code.GRANTED);
    assertThat(client.acquire(keys, "you", token, 5_000).code()).isEqualTo(Code.HELD);
    assertThat(client.extend(keys, "me", token, 5_000).code()).isEqualTo(Code.EXTENDED);
    assertThat(client.release(keys, "me", token).code()).isEqualTo(Code.RELEASED);
    assertThat(client.ask(new LockRequest.Break(keys, token)).code()).isEqualTo(Code.NOT_OWNER);
    LockRequest.QueueEntry other = new LockRequest.QueueEntry("q", 0, 1_000_000, 60_000, false);
    LockRequest.QueueEntry entry = new LockRequest.QueueEntry("p", 0, 1_000_000, 60_000, false);
    assertThat(client.ask(new LockRequest.Enqueue(keys, entry, 0)).code()).isEqualTo(Code.ADMITTED);
    assertThat(client.ask(new LockRequest.Enqueue(keys, other, 0)).code()).isEqualTo(Code.QUEUED);
    assertThat(client.acquire(keys, "newcomer", token + 1, 5_000).code()).isEqualTo(Code.QUEUED);
    assertThat(client.ask(new LockRequest.Acquire(keys, "x", token + 1, 5_000, entry)).code())
        .isEqualTo(Code.GRANTED);
    assertThat(client.ask(new LockRequest.Release(keys, "x", token + 1, true, 100, "p")).code())
        .isEqualTo(Code.RELEASED);
  }

  @Test
  void leastPrivilegedUser_withoutScriptLoad_canDoEverything() {
    RedisNode server = server();
    setLeast(server, "+info");
    TestClient client = connect(LettuceLockNode.create(as(server, "app", "secret")));
    client.awaitStatus(NodeStatus::usable);

    lockAndRelease(client);
    server.command("SCRIPT", "FLUSH");
    NodeReply forgotten = client.inspect(NodeContract.fresh());
    assertThat(forgotten.code()).isEqualTo(Code.NOT_OWNER);
    lockAndRelease(client);
  }

  @Test
  void userWithoutInfo_isQuarantinedAtEveryConnection_withTheReason() {
    RedisNode server = server();
    setLeast(server, "+script");
    TestClient client =
        closing(
            TestClient.start(
                LettuceLockNode.create(as(server, "app", "secret")),
                RestartGuard.UPTIME,
                MAX_LEASE));

    assertThat(client.node.status().state()).isEqualTo(State.QUARANTINED);
    assertThat(client.node.status().cause()).contains("INFO");
    lockAndRelease(client);
  }

  @Test
  void wrongPassword_isTheCauseOfTheError_untilItIsCorrected() {
    RedisNode server = server();
    setLeast(server, "+info");
    AtomicReference<String> password = new AtomicReference<>("wrong");
    LettuceOptions options =
        LettuceOptions.builder()
            .credentials(() -> completedStage(new Credentials("app", password.get().toCharArray())))
            .build();
    TestClient client = connect(LettuceLockNode.create(server.uri(), options));

    NodeStatus refused = client.awaitStatus(status -> status.cause().contains("WRONGPASS"));
    assertThat(refused.state()).isEqualTo(State.CONNECTING);
    assertThat(refused.cause()).contains("NOT_AUTHENTICATED").doesNotContain("wrong");
    NodeReply reply = client.inspect(NodeContract.fresh());
    assertThat(reply.error().kind()).isEqualTo(NodeError.Kind.NOT_AUTHENTICATED);

    password.set("secret");
    client.awaitStatus(NodeStatus::usable);
    lockAndRelease(client);
  }

  @Test
  void noPassword_isTheCause() {
    RedisNode server = closing(RedisNodes.builder().count(1).password("secret").start()).get(0);
    TestClient client = connect(LettuceLockNode.create("redis://127.0.0.1:" + server.port()));
    NodeStatus refused = client.awaitStatus(status -> status.cause().contains("NOAUTH"));
    assertThat(refused.cause()).contains("NOT_AUTHENTICATED");
  }

  @Test
  void replica_neverVotes_andAPromotedOneIsQuarantined() {
    RedisNodes two = closing(RedisNodes.start(2));
    RedisNode replica = two.get(1);
    replica.command("REPLICAOF", "127.0.0.1", Integer.toString(two.get(0).port()));
    TestClient client =
        closing(
            TestClient.start(
                LettuceLockNode.create(replica.uri()), RestartGuard.UPTIME, MAX_LEASE));

    NodeStatus status = client.node.status();
    assertThat(status.state()).isEqualTo(State.QUARANTINED);
    assertThat(status.cause()).contains("replica");
    assertThat(status.untilNanos()).isZero();
    NodeReply reply = client.acquire(NodeContract.fresh(), "me", client.now(), 5_000);
    assertThat(reply.code()).isEqualTo(Code.FAILED);
    assertThat(reply.error().kind()).isEqualTo(NodeError.Kind.READONLY);

    replica.command("REPLICAOF", "NO", "ONE");
    NodeStatus promoted = client.awaitStatus(s -> s.untilNanos() != 0);
    assertThat(promoted.state()).isEqualTo(State.QUARANTINED);
  }

  @Test
  void masterThatBecomesAReplica_isDetected() {
    RedisNodes two = closing(RedisNodes.start(2));
    RedisNode server = two.get(1);
    TestClient client = closing(TestClient.start(LettuceLockNode.create(server.uri())));
    assertThat(client.node.status().state()).isEqualTo(State.VOTING);
    server.command("REPLICAOF", "127.0.0.1", Integer.toString(two.get(0).port()));

    await()
        .atMost(Duration.ofSeconds(8))
        .until(
            () -> {
              client.acquire(NodeContract.fresh(), "me", client.now(), 5_000);
              return client.node.status().cause().contains("is a replica");
            });
    assertThat(client.node.status().state()).isEqualTo(State.QUARANTINED);
  }

  @Test
  void masterThatBecomesAReplica_isQuarantinedWithItsFirstReply() {
    RedisNode server = server();
    TestClient client = closing(TestClient.start(LettuceLockNode.create(server.uri())));
    assertThat(client.node.status().state()).isEqualTo(State.VOTING);
    long token = client.now();
    // There is no master at that address, so the replica drops nothing yet.
    server.command("REPLICAOF", "127.0.0.1", "1");
    assertThat(client.acquire(NodeContract.fresh(), "me", token, 5_000).error().kind())
        .isEqualTo(NodeError.Kind.READONLY);
    assertThat(client.node.status().state()).isEqualTo(State.QUARANTINED);
    client.awaitStatus(status -> status.cause().contains("role:slave"));

    server.command("REPLICAOF", "NO", "ONE");
    client.awaitStatus(status -> status.state() == State.VOTING); // The guard is off here.
  }

  @Test
  void flushOfAnotherDatabase_leadsBackToVoting() {
    RedisNode server = server();
    LettuceLockNode node = LettuceLockNode.create(server.uri() + "/3");
    TestClient client = closing(TestClient.start(node));
    long before = node.status().connection();

    server.command("FLUSHDB");

    client.awaitStatus(status -> status.connection() > before);
    client.awaitStatus(status -> status.state() == State.VOTING);
  }

  @Test
  void identity_isKnown() {
    RedisNode server = server();
    LettuceLockNode node = LettuceLockNode.create(server.uri());
    assertThat(node.identity()).isEmpty();
    closing(TestClient.start(node));
    assertThat(node.identity()).isPresent();
    assertThat(node.identity().get().role()).isEqualTo("master");
    assertThat(node.identity().get().runId()).hasSize(40);
  }

  @Test
  void usersResources_survive_andNodesOfOneGroupAreIndependent() throws Exception {
    RedisNodes two = closing(RedisNodes.start(2));
    ClientResources theirs = ClientResources.create();
    try {
      for (int i = 0; i < 2; i++) {
        List<LockNode> nodes =
            LettuceNodes.standalone(
                two.uris(), LettuceOptions.builder().clientResources(theirs).build());
        TestClient first = closing(TestClient.start(nodes.get(0)));
        TestClient second = closing(TestClient.start(nodes.get(1)));
        first.close();
        TimeUnit.MILLISECONDS.sleep(200);
        lockAndRelease(second);
        second.close();
      }
    } finally {
      assertThat(theirs.eventExecutorGroup().isShuttingDown()).isFalse();
      theirs.shutdown(0, 1, TimeUnit.SECONDS).get();
    }
  }

  @Test
  void ownThreads_endWithTheLastNode() {
    RedisNodes two = closing(RedisNodes.start(2));
    long before = lettuceThreads();
    List<LockNode> nodes = LettuceNodes.standalone(two.uris());
    TestClient first = closing(TestClient.start(nodes.get(0)));
    TestClient second = closing(TestClient.start(nodes.get(1)));
    first.close();
    lockAndRelease(second);
    second.close();
    await().atMost(Duration.ofSeconds(10)).until(() -> lettuceThreads() <= before);
  }

  private static long lettuceThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("lettuce-"))
        .count();
  }

  @Test
  void tooManyUnanswered_areRefusedAtOnce_andOthersStillAnswered() {
    RedisNode server = server();
    LettuceOptions options = LettuceOptions.builder().maxUnanswered(10).build();
    TestClient client = closing(TestClient.start(LettuceLockNode.create(server.uri(), options)));
    server.pause();
    List<CompletableFuture<NodeReply>> answers = new ArrayList<>();
    for (int i = 0; i < 15; i++) {
      answers.add(client.send(new LockRequest.Inspect(NodeContract.fresh(), true)));
    }
    for (CompletableFuture<NodeReply> refused : answers.subList(10, 15)) {
      assertThat(refused).isCompleted();
      assertThat(refused.join().error().kind()).isEqualTo(NodeError.Kind.OVERLOADED);
    }
    server.resume();
    for (CompletableFuture<NodeReply> answered : answers.subList(0, 10)) {
      assertThat(answered.orTimeout(5, TimeUnit.SECONDS).join().code()).isEqualTo(Code.NOT_OWNER);
    }
  }

  @Test
  void connectionThatDiesSilently_isClosedAndReplaced() {
    RedisNode server = closing(RedisNodes.builder().count(1).gated(true).start()).get(0);
    TestClient client = closing(TestClient.start(LettuceLockNode.create(server.uri())));
    long before = client.node.status().connection();

    server.gate().dropReplies();
    CompletableFuture<NodeReply> lost =
        client.send(new LockRequest.Inspect(NodeContract.fresh(), true));

    NodeReply reply = lost.orTimeout(9, TimeUnit.SECONDS).join();
    assertThat(reply.error().kind()).isEqualTo(NodeError.Kind.DISCONNECTED);
    assertThat(client.node.status().connection()).isGreaterThan(before);
    server.gate().endFaults();
    client.awaitStatus(NodeStatus::usable);
    lockAndRelease(client);
  }

  @Test
  void pausedAtStart_joinsWhenItRuns_andStartDoesNotBlock() {
    RedisNode server = server();
    server.pause();
    long begin = TestClient.TIME.nanos();
    TestClient client = connect(LettuceLockNode.create(server.uri()));
    assertThat(Duration.ofNanos(TestClient.TIME.nanos() - begin)).isLessThan(Duration.ofSeconds(1));
    client.awaitStatus(status -> status.cause().contains("DISCONNECTED"));

    server.resume();
    client.awaitStatus(NodeStatus::usable);
    lockAndRelease(client);
  }
}
