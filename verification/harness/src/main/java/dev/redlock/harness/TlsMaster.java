package dev.redlock.harness;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisSource;
import dev.redlock.testkit.RedisStartException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/**
 * A master with a TLS port, and a plain port for the test. The static binary of the test kit does
 * not support TLS; that of Debian does.
 */
public final class TlsMaster implements AutoCloseable {
  private static final int ATTEMPTS = 5;

  private final RedisNodes nodes;
  private final Path directory;
  private final int port;

  private TlsMaster(RedisNodes nodes, Path directory, int port) {
    this.nodes = nodes;
    this.directory = directory;
    this.port = port;
  }

  /**
   * Starts a master with this certificate. Without a server that supports TLS, the test is aborted
   * with the reason.
   */
  public static TlsMaster start(
      Path temp, Certificates certificates, String alias, boolean wantsClientCertificate)
      throws IOException {
    Optional<String> none = RedisSource.PATH.whyUnavailable();
    if (none.isPresent()) {
      throw skip(none.get());
    }
    Path directory = Files.createTempDirectory(temp, "master");
    show(directory, certificates, alias);
    for (int attempt = 1; ; attempt++) {
      int port = freePort();
      try {
        return new TlsMaster(
            RedisNodes.builder()
                .count(1)
                .source(RedisSource.PATH)
                .serverArgs(
                    "--tls-port",
                    Integer.toString(port),
                    "--tls-cert-file",
                    directory.resolve("crt").toString(),
                    "--tls-key-file",
                    directory.resolve("key").toString(),
                    "--tls-ca-cert-file",
                    certificates.certificate("authority").toString(),
                    "--tls-auth-clients",
                    wantsClientCertificate ? "yes" : "no")
                .start(),
            directory,
            port);
      } catch (RedisStartException e) {
        String why = String.valueOf(e.getMessage());
        if (why.contains("tls-port") || why.contains("Bad directive")) {
          throw skip("the redis-server on the PATH was built without TLS");
        } else if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /** Aborts the test, and prints why. */
  public static RuntimeException skip(String reason) {
    System.out.println("TLS tests are skipped: " + reason);
    return Assumptions.<RuntimeException>abort("TLS tests are skipped: " + reason);
  }

  private static void show(Path directory, Certificates certificates, String alias)
      throws IOException {
    StandardCopyOption replace = StandardCopyOption.REPLACE_EXISTING;
    Files.copy(certificates.certificate(alias), directory.resolve("crt"), replace);
    Files.copy(certificates.key(alias), directory.resolve("key"), replace);
  }

  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Changes its certificate; restarts the master for that. */
  public void renew(Certificates certificates, String alias) throws IOException {
    show(directory, certificates, alias);
    nodes.get(0).restart();
  }

  public RedisNode node() {
    return nodes.get(0);
  }

  public int port() {
    return port;
  }

  public String uri() {
    return "rediss://localhost:" + port;
  }

  @Override
  public void close() {
    nodes.close();
  }

  public static List<String> uris(List<TlsMaster> masters) {
    return masters.stream().map(TlsMaster::uri).toList();
  }

  public static String describe(List<TlsMaster> masters) {
    StringBuilder lines = new StringBuilder();
    masters.forEach(master -> lines.append(master.nodes.describe()).append('\n'));
    return lines.toString();
  }
}
