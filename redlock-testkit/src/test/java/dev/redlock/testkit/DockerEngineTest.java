package dev.redlock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DockerEngineTest {

  @TempDir Path temp;

  private ServerSocketChannel engine;
  private Map<String, String> environment;

  @BeforeEach
  void listen() throws IOException {
    Path socket = temp.resolve("docker.sock");
    engine = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    engine.bind(UnixDomainSocketAddress.of(socket));
    environment = Map.of("DOCKER_HOST", "unix://" + socket);
  }

  @AfterEach
  void close() throws IOException {
    engine.close();
  }

  @Test
  void ping_engineAnswers_returns() {
    answer("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nOK");
    assertThatCode(() -> DockerEngine.ping(environment)).doesNotThrowAnyException();
  }

  @Test
  void ping_engineRefuses_failsWithItsMessage() {
    answer("HTTP/1.0 503 Service Unavailable\r\n\r\n");
    assertThatThrownBy(() -> DockerEngine.ping(environment)).hasMessageContaining("503");
  }

  @Test
  void ping_engineHangs_givesUpAfterASecond() {
    long start = System.nanoTime();
    assertThatThrownBy(() -> DockerEngine.ping(environment))
        .hasMessageContaining("does not reply to a ping within 1 s");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(3));
  }

  @Test
  void ping_socketWithoutEngine_failsWithTheSocket() throws IOException {
    engine.close();
    assertThatThrownBy(() -> DockerEngine.ping(environment))
        .hasMessageContaining("no Docker at ")
        .hasMessageContaining("docker.sock");
  }

  private void answer(String reply) {
    var unused =
        CompletableFuture.runAsync(
            () -> {
              try (SocketChannel client = engine.accept()) {
                client.read(ByteBuffer.allocate(1000));
                client.write(ByteBuffer.wrap(reply.getBytes(StandardCharsets.US_ASCII)));
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
  }
}
