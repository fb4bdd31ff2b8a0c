package dev.redlock.testkit;

import dev.redlock.internal.text.Printable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Checks whether a Docker engine replies. It does not use Testcontainers, whose own check can take
 * minutes where images cannot be pulled.
 */
final class DockerEngine {

  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private DockerEngine() {}

  /** Returns if an engine replies to a ping within one second; otherwise fails with the reason. */
  static void ping(Map<String, String> environment) throws ServerSource.UnavailableException {
    String host = environment.getOrDefault("DOCKER_HOST", "");
    if (host.isEmpty()) {
      Path home = Path.of(System.getProperty("user.home"), ".docker", "run", "docker.sock");
      List<Path> sockets = List.of(Path.of("/var/run/docker.sock"), home);
      Path socket =
          sockets.stream()
              .filter(Files::exists)
              .findFirst()
              .orElseThrow(
                  () ->
                      new ServerSource.UnavailableException(
                          "no Docker: DOCKER_HOST is not set, and none of these sockets exists: "
                              + sockets));
      ping(UnixDomainSocketAddress.of(socket));
    } else if (host.startsWith("unix://")) {
      ping(UnixDomainSocketAddress.of(host.substring("unix://".length())));
    } else if (host.startsWith("tcp://") && !environment.containsKey("DOCKER_TLS_VERIFY")) {
      URI uri = URI.create(host);
      ping(new InetSocketAddress(uri.getHost(), uri.getPort()));
    } // else the engine is reached over TLS or SSH: Testcontainers connects to it
  }

  private static void ping(SocketAddress address) throws ServerSource.UnavailableException {
    try (SocketChannel channel = SocketChannel.open(protocolOf(address))) {
      channel.configureBlocking(false);
      long start = System.nanoTime();
      channel.connect(address);
      while (!channel.finishConnect()) {
        pause(start, address);
      }
      ByteBuffer request =
          ByteBuffer.wrap(
              "GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      ByteBuffer reply = ByteBuffer.allocate(4096);
      while (channel.write(request) >= 0 && channel.read(reply) == 0) {
        pause(start, address);
      }
      String status = new String(reply.array(), 0, reply.position(), StandardCharsets.US_ASCII);
      if (!status.contains(" 200 ")) {
        throw new ServerSource.UnavailableException(
            "no Docker: " + address + " replies to a ping with: " + status.lines().findFirst());
      }
    } catch (IOException e) {
      throw new ServerSource.UnavailableException("no Docker at " + address, e);
    }
  }

  private static ProtocolFamily protocolOf(SocketAddress address) {
    return address instanceof UnixDomainSocketAddress
        ? StandardProtocolFamily.UNIX
        : StandardProtocolFamily.INET;
  }

  private static void pause(long startNanos, SocketAddress address)
      throws ServerSource.UnavailableException {
    if (System.nanoTime() - startNanos > PATIENCE.toNanos()) {
      throw new ServerSource.UnavailableException(
          "no Docker: " + address + " does not reply to a ping within " + Printable.of(PATIENCE));
    }
    LockSupport.parkNanos(1_000_000);
  }
}
