package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.redlock.it.LeastUser;
import dev.redlock.lettuce.LettuceLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The record of the node set on a real server, as two clients see it. */
class NodeRecordIT {
  private static final Duration MAX_LEASE = Duration.ofSeconds(3);
  private static final List<String> MEMBERS = List.of("a:1", "b:1", "c:1");

  private final List<AutoCloseable> open = new ArrayList<>();
  private RedisNodes servers;
  private RedisNode server;

  @BeforeEach
  void start() {
    servers = closing(RedisNodes.start(2));
    server = servers.get(0);
  }

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

  private TestClient client(String uri) {
    return client(LettuceLockNode.create(uri), RestartGuard.OFF);
  }

  private TestClient client(LockNode node, RestartGuard guard) {
    TestClient client = closing(TestClient.startOnly(node, guard, MAX_LEASE));
    client.awaitStatus(status -> status.state() == State.VOTING);
    return client;
  }

  private static NodeRecord tell(TestClient client, long epoch) {
    return change(client, NodeRecord.Change.Kind.TELL, record(epoch));
  }

  private static NodeRecord record(long epoch) {
    return new NodeRecord("d1", "a:1", epoch, MEMBERS, List.of(), epoch, 0, 0, 3_000, 3_000, 0);
  }

  private static NodeRecord change(
      TestClient client, NodeRecord.Change.Kind kind, NodeRecord given) {
    return client
        .node
        .change(new NodeRecord.Change(kind, given))
        .toCompletableFuture()
        .orTimeout(5, TimeUnit.SECONDS)
        .join();
  }

  private static NodeRecord known(TestClient client) {
    NodeRecord record = client.node.status().record();
    assertThat(record).isNotNull();
    return record;
  }

  @Test
  void ownChange_isPublishedWithANewConnectionNumber_beforeTheStageCompletes() {
    TestClient one = client(server.uri());
    assertThat(known(one)).isEqualTo(NodeRecord.NONE);
    long number = one.node.status().connection();
    CompletableFuture<NodeStatus> seen =
        one.node
            .change(new NodeRecord.Change(NodeRecord.Change.Kind.TELL, record(1)))
            .thenApply(stored -> one.node.status())
            .toCompletableFuture();
    NodeStatus then = seen.orTimeout(5, TimeUnit.SECONDS).join();
    assertThat(then.state()).isEqualTo(State.VOTING);
    assertThat(then.connection()).isEqualTo(number + 1);
    assertThat(then.record()).isNotNull().matches(r -> r.epoch() == 1 && r.sinceMicros() > 0);

    change(one, NodeRecord.Change.Kind.PROMISE, record(1).by(9_000_000_000_000_000L));
    assertThat(known(one).promised()).isEqualTo(9_000_000_000_000_000L);
    assertThat(one.node.status().connection()).as("of a promise").isEqualTo(number + 1);
    assertThat(tell(one, 1)).as("no change").isEqualTo(known(one));
    assertThat(one.node.status().connection()).isEqualTo(number + 1);
    assertThat(client(server.uri()).node.status().record()).isEqualTo(known(one));
  }

  /** Also after a write of its own: a write makes the server forget who has read the key. */
  @Test
  void changeOfAnotherClient_isKnownBeforeTheReplyToAnyLaterRequest() {
    TestClient one = client(server.uri());
    TestClient two = client(server.uri());
    for (long epoch = 1; epoch <= 200; epoch++) {
      TestClient writer = epoch % 3 == 0 ? one : two;
      TestClient other = writer == one ? two : one;
      long number = other.node.status().connection();
      NodeRecord stored = tell(writer, epoch);
      assertThat(stored.epoch()).isEqualTo(epoch);
      CompletableFuture<NodeStatus> atReply = new CompletableFuture<>();
      other.node.send(
          new LockRequest.Inspect(TestClient.keys("any"), true),
          reply -> {
            NodeStatus status = other.node.status();
            assertThat(reply.connection()).isEqualTo(status.connection());
            atReply.complete(status);
          });
      NodeStatus status = atReply.orTimeout(5, TimeUnit.SECONDS).join();
      assertThat(status.connection()).isGreaterThan(number);
      assertThat(status.state() != State.VOTING || stored.equals(status.record()))
          .as("%s after %s", status, stored)
          .isTrue();
      other.awaitStatus(now -> now.state() == State.VOTING && stored.equals(now.record()));
    }
    assertThat(two.statuses)
        .anySatisfy(
            status -> assertThat(status.cause()).isEqualTo("its marker changed and is read again"));
  }

  @Test
  void flush_takesTheRecord_andANewOneIsNoticed() {
    TestClient one = client(server.uri());
    TestClient two = client(server.uri());
    NodeRecord first = tell(one, 4);
    two.awaitStatus(status -> first.equals(status.record()));
    long number = two.node.status().connection();
    server.flush();
    two.awaitStatus(
        status -> status.state() == State.VOTING && NodeRecord.NONE.equals(status.record()));
    one.awaitStatus(
        status -> status.state() == State.VOTING && NodeRecord.NONE.equals(status.record()));
    assertThat(two.node.status().connection()).isGreaterThan(number);
    NodeRecord again = tell(one, 2);
    assertThat(again.epoch()).isEqualTo(2);
    two.awaitStatus(status -> again.equals(status.record()));
  }

  @Test
  void restartWithoutKeys_takesTheRecord_andTheDeletionOfTheMarkerToo() {
    TestClient one = client(server.uri());
    tell(one, 4);
    server.kill();
    one.awaitStatus(status -> status.state() == State.CONNECTING);
    assertThat(known(one)).isEqualTo(NodeRecord.NONE);
    server.restart();
    one.awaitStatus(status -> status.state() == State.VOTING);
    assertThat(known(one)).isEqualTo(NodeRecord.NONE);
    NodeRecord second = tell(one, 2);
    assertThat(second.epoch()).isEqualTo(2);
    server.command("DEL", "redlock:%node");
    one.awaitStatus(
        status -> status.state() == State.VOTING && NodeRecord.NONE.equals(status.record()));
  }

  @Test
  void withoutTracking_theMarkerIsReadEachThirdOfTheLongestLeaseTime() {
    server.command(
        Arrays.stream(LeastUser.command())
            .filter(word -> !word.equals("+client|tracking"))
            .toArray(String[]::new));
    TestClient deaf = client(server.uri().replace("redis://", "redis://app:secret@"));
    assertThat(deaf.node.notifiesWaiters()).isFalse();
    TestClient other = client(server.uri());
    for (long epoch = 1; epoch < 4; epoch++) {
      NodeRecord stored = tell(other, epoch);
      long number = deaf.node.status().connection();
      await().atMost(Duration.ofSeconds(3)).until(() -> stored.equals(deaf.node.status().record()));
      assertThat(deaf.node.status().connection()).isEqualTo(number + 1);
      assertThat(deaf.node.status().state()).isEqualTo(State.VOTING);
    }
  }

  @Test
  void anotherWireVersion_endsTheVote_untilTheMarkerHasThatOfThisClient() {
    TestClient one = client(server.uri());
    server.command("HSET", "redlock:%node", "wire", "2");
    one.awaitStatus(status -> status.state() == State.QUARANTINED && status.untilNanos() == 0);
    assertThat(one.node.status().cause())
        .isEqualTo(
            "its marker says wire version 2, and this client speaks version 1: update this client");
    server.command("HSET", "redlock:%node", "wire", "1");
    one.awaitStatus(status -> status.state() == State.VOTING);
  }

  @Test
  void leastUser_changesTheRecord_andItsSiblingConnectsWithItsPassword() {
    for (RedisNode node : servers) {
      node.command(LeastUser.command());
      node.command("ACL", "SETUSER", "app", "+select");
    }
    TestClient one = client(server.uri().replace("redis://", "redis://app:secret@") + "/1");
    assertThat(tell(one, 3).epoch()).isEqualTo(3);
    LockNode second = one.node.sibling("127.0.0.1:" + servers.get(1).port() + "/1").orElseThrow();
    assertThat(second.status().record()).isEqualTo(NodeRecord.NONE);
    TestClient two = client(second, RestartGuard.OFF);
    assertThat(tell(two, 5).epoch()).isEqualTo(5);
    assertThat(servers.get(1).command("CLIENT", "LIST").toString()).contains("user=app", " db=1 ");
    LockNode same = one.node.sibling(one.node.name()).orElseThrow();
    assertThat(same.name()).isEqualTo(one.node.name());
    assertThat(client(same, RestartGuard.OFF).node.status().record()).isEqualTo(known(one));
  }

  @Test
  void changeWithoutAConnection_fails() {
    LockNode node = closing(LettuceLockNode.create(server.uri()));
    NodeRecord.Change change = new NodeRecord.Change(NodeRecord.Change.Kind.TELL, record(1));
    assertThatThrownBy(() -> node.change(change).toCompletableFuture().join())
        .hasMessageContaining("not started");
    TestClient one = client(server.uri());
    server.kill();
    one.awaitStatus(status -> status.state() == State.CONNECTING);
    assertThatThrownBy(() -> one.node.change(change).toCompletableFuture().join())
        .hasMessageContaining("DISCONNECTED");
  }

  @Test
  void changeByAUserWithoutThePermission_failsWithTheErrorOfTheServer() {
    TestClient admin = client(server.uri());
    tell(admin, 1);
    server.command(
        Arrays.stream(LeastUser.command())
            .filter(word -> !word.equals("+hset"))
            .toArray(String[]::new));
    TestClient reader = client(server.uri().replace("redis://", "redis://app:secret@"));
    assertThat(known(reader)).isEqualTo(known(admin));
    assertThatThrownBy(() -> tell(reader, 2)).hasMessageContaining("NO_PERMISSION");
    assertThat(known(reader).epoch()).isEqualTo(1);
  }
}
