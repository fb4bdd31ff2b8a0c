package dev.redlock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.redlock.Redlock;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.internal.Watchdog;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RedisNodesTest {

  private RedisNodes nodes;
  private RedisNode node;

  @BeforeEach
  void start() {
    nodes = RedisNodes.builder().count(1).appendOnly(true).start();
    node = nodes.get(0);
  }

  @AfterEach
  void end() {
    nodes.close();
  }

  @Test
  void start_five_areIndependentAndAnswer() {
    try (RedisNodes five = RedisNodes.start(5)) {
      five.get(3).command("SET", "k", "v");

      assertThat(five.stream().map(n -> n.command("GET", "k")))
          .containsExactly(null, null, null, "v", null);
      assertThat(five.stream().map(RedisNode::port)).doesNotHaveDuplicates();
      assertThat(five.uris()).allMatch(uri -> uri.matches("redis://127\\.0\\.0\\.1:\\d+"));
    }
  }

  @Test
  void command_everyKindOfReply_isTranslated() {
    assertThat(node.command("SET", "k", "ü\r\n")).isEqualTo("OK");
    assertThat(node.command("GET", "k")).isEqualTo("ü\r\n");
    assertThat(node.command("STRLEN", "k")).isEqualTo(4L);
    assertThat(node.command("GET", "absent")).isNull();
    assertThat(node.command("MGET", "k", "absent")).isEqualTo(Arrays.asList("ü\r\n", null));
    assertThat(node.command("EVAL", "return {1, {'two'}}", "0"))
        .isEqualTo(List.of(1L, List.of("two")));
    assertThatThrownBy(() -> node.command("LPUSH", "k", "x"))
        .isInstanceOf(RedisReplyException.class)
        .hasMessageStartingWith("WRONGTYPE");
  }

  @Test
  void kill_running_refusesConnectionsAndIsDead() {
    int port = node.port();

    node.kill();

    assertThat(node.state()).isEqualTo(ServerState.DEAD);
    assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
        .isInstanceOf(ConnectException.class);
    assertThatThrownBy(() -> node.command("PING"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("dead");
    node.kill();
  }

  @Test
  void restart_afterKill_isEmptyOnTheSamePort() {
    int port = node.port();
    node.command("SET", "k", "v");
    node.kill();

    node.restart();

    assertThat(node.port()).isEqualTo(port);
    assertThat(node.command("GET", "k")).isNull();
    assertThat(node.state()).isEqualTo(ServerState.RUNNING);
  }

  @Test
  void restartKeepingData_running_keepsKeysAndTheirTime() {
    node.command("SET", "k", "v", "PX", "60000");
    Object runId = node.command("INFO", "server");

    node.restartKeepingData();

    assertThat(node.command("INFO", "server")).isNotEqualTo(runId);
    assertThat(node.key("k"))
        .hasValueSatisfying(
            key ->
                assertThat(key.ttl().orElseThrow())
                    .isBetween(Duration.ofSeconds(50), Duration.ofSeconds(60)));
  }

  @Test
  void restartKeepingData_withoutAppendOnly_isRefused() {
    try (RedisNodes plain = RedisNodes.start(1)) {
      assertThatThrownBy(() -> plain.get(0).restartKeepingData())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("appendOnly(true)");
    }
  }

  @Test
  void pause_running_keepsConnectionsUnansweredUntilResumed() throws IOException {
    NodeAddress address = NodeAddress.local(node.port(), "");
    try (RespConnection connection = RespConnection.open(address, Duration.ofSeconds(10))) {
      assertThat(connection.call("PING")).isEqualTo("PONG");
      node.pause();

      assertThat(node.state()).isEqualTo(ServerState.PAUSED);
      assertThat(ServerInfo.read(address, Duration.ofMillis(100))).isEmpty();
      assertThatThrownBy(() -> node.command("PING"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("paused");

      connection.send("INCR", "n");
      node.resume();
      assertThat(connection.read()).isEqualTo(1L);
      assertThat(node.state()).isEqualTo(ServerState.RUNNING);
    }
  }

  @Test
  void kill_paused_isDead() {
    node.pause();
    node.kill();
    assertThat(node.state()).isEqualTo(ServerState.DEAD);
    node.restart();
    assertThat(node.command("PING")).isEqualTo("PONG");
  }

  @Test
  void faults_onAnInterruptedThread_areCarriedThrough() {
    Thread.currentThread().interrupt();
    try {
      node.pause();
      assertThat(node.state()).isEqualTo(ServerState.PAUSED);
      node.restart();
      assertThat(node.state()).isEqualTo(ServerState.RUNNING);
      assertThat(node.command("PING")).isEqualTo("PONG");
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void heal_pausedAndDead_allRunAgain() {
    try (RedisNodes three = RedisNodes.start(3)) {
      three.get(0).pause();
      three.get(1).kill();

      three.endFaults();

      assertThat(three.stream().map(RedisNode::state)).containsOnly(ServerState.RUNNING);
    }
  }

  @Test
  void expireEarly_keyWithLongLife_isGone() {
    node.command("SET", "k", "v", "PX", "60000");

    assertThat(node.expireEarly("k")).isTrue();

    assertThat(node.command("GET", "k")).isNull();
    assertThat(node.expireEarly("k")).isFalse();
    assertThat(String.valueOf(node.command("INFO", "stats"))).contains("expired_keys:1");
  }

  @Test
  void keys_manyOfSeveralTypes_returnsTypeAndTime() {
    for (int i = 0; i < 2_500; i++) {
      node.command("SET", "k" + i, "v", "PX", "60000");
    }
    node.command("HSET", "h", "f", "v");

    List<RedisKey> keys = node.keys();

    assertThat(keys).hasSize(2_501).contains(new RedisKey("h", "hash", Optional.empty()));
    assertThat(keys)
        .filteredOn(key -> key.type().equals("string"))
        .allMatch(key -> key.ttl().isPresent());
    node.flush();
    assertThat(node.keys()).isEmpty();
  }

  @Test
  void commandCount_ownQuestions_areNotCounted() throws IOException {
    long before = node.commandCount();
    node.command("PING");
    node.keys();
    node.describe();
    assertThat(node.commandCount()).isEqualTo(before);

    try (RespConnection client =
        RespConnection.open(NodeAddress.local(node.port(), ""), Duration.ofSeconds(5))) {
      client.call("PING");
      client.call("PING");
    }
    assertThat(node.commandCount()).isEqualTo(before + 2);
    node.restart();
    assertThat(node.commandCount()).isZero();
  }

  @Test
  void describe_eachState_returnsItInOneLine() {
    assertThat(node.describe())
        .matches("node 0 127\\.0\\.0\\.1:\\d+ running pid \\d+ uptime=\\d+s keys=0");
    node.pause();
    assertThat(node.describe()).contains("paused pid");
    node.kill();
    assertThat(node.describe()).contains("dead pid").doesNotContain("\n");
  }

  @Test
  void password_set_isAskedForAndInTheAddress() {
    try (RedisNodes guarded = RedisNodes.builder().count(1).password("s3cret").start()) {
      RedisNode one = guarded.get(0);
      assertThat(one.command("PING")).isEqualTo("PONG");
      assertThat(one.uri()).startsWith("redis://:s3cret@127.0.0.1:");
      assertThat(one.describe() + one).doesNotContain("s3cret");
      assertThat(ServerInfo.read(NodeAddress.local(one.port(), ""))).isEmpty();
    }
  }

  private static void assertServes(RedisNodes guarded) {
    RedisNode one = guarded.get(0);
    assertThat(one.command("PING")).isEqualTo("PONG");
    assertThat(ServerInfo.read(NodeAddress.local(one.port(), ""))).isEmpty();
    assertThat(ServerInfo.read(NodeAddress.parse(one.uri()))).isNotEmpty();
    try (Redlock redlock =
        Redlock.builder().nodes(one.uri()).restartGuard(RestartGuard.OFF).build()) {
      assertThat(redlock.awaitReady(Duration.ofSeconds(10)))
          .as(redlock.operations().nodes().toString())
          .isTrue();
    }
  }

  @Test
  void password_ofCharactersThatMeanSomethingInAUri_isEncoded_andTheLibraryLogsInWithIt() {
    try (RedisNodes guarded =
        RedisNodes.builder().count(1).password("s3cr:t@p/\u00df% +?#").start()) {
      assertThat(guarded.get(0).uri()).contains(":s3cr%3At%40p%2F%C3%9F%25%20%2B%3F%23@");
      assertServes(guarded);
    }
  }

  @Test
  void login_ofAUser_isInTheAddress_andTheLibraryLogsInWithIt() {
    try (RedisNodes guarded = RedisNodes.builder().count(1).login("app/1", "p:@ss").start()) {
      assertThat(guarded.get(0).uri()).startsWith("redis://app%2F1:p%3A%40ss@127.0.0.1:");
      assertServes(guarded);
    }
  }

  @Test
  void serverArgs_given_reachTheServer() {
    try (RedisNodes small =
        RedisNodes.builder().count(1).serverArgs("--maxmemory", "2mb").start()) {
      assertThat(small.get(0).command("CONFIG", "GET", "maxmemory"))
          .isEqualTo(List.of("maxmemory", "2097152"));
    }
  }

  @Test
  void ports_taken_failsAndNamesThePort() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = other.getLocalPort();
      assertThatThrownBy(() -> RedisNodes.builder().count(1).ports(port).start())
          .isInstanceOf(RedisStartException.class)
          .hasMessage("Port " + port + " on 127.0.0.1 is taken by another process");
    }
  }

  @Test
  void serverArgs_refusedByServer_failsWithItsLogAndLeavesNothing() throws IOException {
    int before = files().size();
    assertThatThrownBy(
            () -> RedisNodes.builder().count(2).serverArgs("--no-such-option", "1").start())
        .isInstanceOf(RedisStartException.class)
        .hasMessageContaining("ended by itself")
        .hasMessageContaining("no-such-option");
    assertThat(files()).hasSize(before);
  }

  @Test
  void close_appendOnly_leavesNoProcessAndNoFile() throws IOException {
    node.command("SET", "k", "v");
    int port = node.port();

    nodes.close();

    assertThat(files()).isEmpty();
    await().atMost(Duration.ofSeconds(2)).until(() -> node.state() == ServerState.DEAD);
    assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
        .isInstanceOf(ConnectException.class);
    nodes.close();
  }

  private static List<Path> files() throws IOException {
    try (Stream<Path> all = Files.list(Watchdog.directory())) {
      return all.toList();
    }
  }
}
