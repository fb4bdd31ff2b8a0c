package dev.redlock.spring.boot;

import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisSource;
import dev.redlock.testkit.RedisStartException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * Masters with a TLS port that want a certificate of their clients. The JDK's keytool makes the
 * certificates: "trusted" is that of servers and good clients, "stranger" another one.
 */
final class TlsMasters implements AutoCloseable {
  static final String PASSWORD = "changeit";
  private static final int ATTEMPTS = 5;

  private final Path directory;
  private final List<RedisNodes> masters = new ArrayList<>();
  private final List<String> uris = new ArrayList<>();

  private TlsMasters(Path directory) {
    this.directory = directory;
  }

  /** Without a server that supports TLS, the test is aborted with the reason. */
  static TlsMasters start(int count, Path directory) throws Exception {
    Optional<String> none = RedisSource.PATH.whyUnavailable();
    if (none.isPresent()) {
      throw skip(none.get());
    }
    TlsMasters made = new TlsMasters(directory);
    made.generate("trusted");
    made.generate("stranger");
    try {
      for (int i = 0; i < count; i++) {
        made.startMaster();
      }
      return made;
    } catch (Throwable e) {
      made.close();
      throw e;
    }
  }

  private void startMaster() throws IOException {
    for (int attempt = 1; ; attempt++) {
      int port = freePort();
      try {
        masters.add(
            RedisNodes.builder()
                .count(1)
                .source(RedisSource.PATH)
                .serverArgs(
                    "--tls-port", Integer.toString(port),
                    "--tls-cert-file", directory.resolve("trusted.crt").toString(),
                    "--tls-key-file", directory.resolve("trusted.key").toString(),
                    "--tls-ca-cert-file", directory.resolve("trusted.crt").toString(),
                    "--tls-auth-clients", "yes")
                .start());
        uris.add("rediss://localhost:" + port);
        return;
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

  private static RuntimeException skip(String reason) {
    System.out.println("[redlock-spring] TLS tests are skipped: " + reason);
    return Assumptions.<RuntimeException>abort("TLS tests are skipped: " + reason);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** The URIs, separated by commas. */
  String uris() {
    return String.join(",", uris);
  }

  /** The key store with this certificate and its key. */
  Path store(String alias) {
    return directory.resolve(alias + ".p12");
  }

  private void generate(String alias) throws Exception {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-J-XX:TieredStopAtLevel=1",
            "-genkeypair",
            "-alias",
            alias,
            "-keyalg",
            "EC",
            "-dname",
            "CN=" + alias,
            "-ext",
            "san=dns:localhost",
            "-ext",
            "bc:c=ca:true",
            "-validity",
            "2",
            "-keystore",
            store(alias).toString(),
            "-storetype",
            "PKCS12",
            "-storepass",
            PASSWORD);
    Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IOException(command + ": " + said);
    }
    export(alias);
  }

  private void export(String alias) throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance(store(alias).toFile(), PASSWORD.toCharArray());
    write(alias + ".crt", "CERTIFICATE", keys.getCertificate(alias).getEncoded());
    write(alias + ".key", "PRIVATE KEY", keys.getKey(alias, PASSWORD.toCharArray()).getEncoded());
  }

  private void write(String file, String what, byte[] content) throws IOException {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    Files.writeString(
        directory.resolve(file),
        "-----BEGIN " + what + "-----\n" + base64 + "\n-----END " + what + "-----\n");
  }

  String describe() {
    StringBuilder text = new StringBuilder();
    masters.forEach(master -> text.append(master.describe()).append('\n'));
    return text.toString();
  }

  @Override
  public void close() {
    masters.forEach(RedisNodes::close);
  }
}
