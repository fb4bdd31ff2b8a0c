package dev.redlock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The same faults as on processes, in containers. Skipped if there is no Docker engine. */
@RedisTest(nodes = 2, gated = true, appendOnly = true, source = RedisSource.DOCKER)
@Tag("thorough")
class DockerTest {

  private final RedisNode node;
  private final RedisNodes nodes;

  DockerTest(RedisNodes nodes) {
    this.nodes = nodes;
    this.node = nodes.get(0);
  }

  @Test
  void start_containers_areIndependent() {
    node.command("SET", "k", "v");
    assertThat(nodes.get(1).command("GET", "k")).isNull();
    assertThat(nodes.source()).startsWith("Docker image ");
    assertThat(node.describe()).matches("node 0 127\\.0\\.0\\.1:\\d+ running container .*");
  }

  @Test
  void killAndRestart_container_isEmptyOnTheSamePort() throws IOException {
    int port = node.directPort();
    node.command("SET", "k", "v");

    node.kill();
    assertThat(node.state()).isEqualTo(ServerState.DEAD);
    assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
        .isInstanceOf(IOException.class);

    node.restart();
    assertThat(node.directPort()).isEqualTo(port);
    assertThat(node.command("GET", "k")).isNull();
  }

  @Test
  void restartKeepingData_container_keepsKeys() {
    node.command("SET", "k", "v", "PX", "600000");
    node.restartKeepingData();
    assertThat(node.command("GET", "k")).isEqualTo("v");
    assertThat(node.key("k").orElseThrow().ttl()).isPresent();
  }

  @Test
  void pauseAndResume_container_executesWhatWasSentMeanwhile() throws IOException {
    try (RespConnection client =
        RespConnection.open(NodeAddress.local(node.port(), ""), Duration.ofSeconds(20))) {
      client.call("PING");
      node.pause();
      assertThat(node.state()).isEqualTo(ServerState.PAUSED);
      client.send("SET", "k", "v");
      client.flush();
      node.resume();
      assertThat(client.read()).isEqualTo("OK");
    }
  }

  @Test
  void gate_beforeContainer_dropsReplies() throws IOException {
    try (RespConnection client =
        RespConnection.open(NodeAddress.local(node.port(), ""), Duration.ofSeconds(20))) {
      client.call("PING");
      node.gate().dropReplies();
      client.send("SET", "k", "v");
      client.flush();
      await().until(() -> "v".equals(node.command("GET", "k")));
      node.gate().endFaults();
      assertThatThrownBy(client::read).isInstanceOf(IOException.class);
    }
  }

  @Test
  void image_notOnTheEngine_isNamed() {
    System.setProperty(DockerSource.IMAGE_PROPERTY, "no.such/image:1");
    try {
      assertThat(RedisSource.DOCKER.whyUnavailable())
          .hasValueSatisfying(
              reason -> assertThat(reason).contains("image missing: no.such/image:1"));
    } finally {
      System.clearProperty(DockerSource.IMAGE_PROPERTY);
    }
  }
}
