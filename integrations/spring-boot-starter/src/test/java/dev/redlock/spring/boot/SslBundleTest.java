package dev.redlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.harness.Certificates;
import dev.redlock.harness.TlsMaster;
import dev.redlock.spring.MemoryNodes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** {@code redlock.ssl.bundle} on masters that want the certificate of the client. */
@Timeout(90)
class SslBundleTest {
  @TempDir static Path directory;

  /** Of the masters and of good clients; of others. */
  private static Certificates trusted;

  private static Certificates stranger;
  private static final List<TlsMaster> MASTERS = new ArrayList<>();

  @BeforeAll
  static void start() throws Exception {
    trusted = Certificates.in(Files.createDirectory(directory.resolve("trusted")));
    stranger = Certificates.in(Files.createDirectory(directory.resolve("stranger")));
    trusted.sign("master", "dns:localhost");
    for (int i = 0; i < 3; i++) {
      MASTERS.add(TlsMaster.start(directory, trusted, "master", true));
    }
  }

  @AfterAll
  static void stop() {
    MASTERS.forEach(TlsMaster::close);
  }

  private static ApplicationContextRunner app(Certificates trust, Certificates key) {
    String bundle = "spring.ssl.bundle.jks.locks.";
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(SslAutoConfiguration.class, RedlockAutoConfiguration.class))
        .withPropertyValues(
            bundle + "truststore.location=" + trust.store().toUri(),
            bundle + "truststore.password=" + Certificates.PASSWORD,
            bundle + "keystore.location=" + key.store().toUri(),
            bundle + "keystore.password=" + Certificates.PASSWORD,
            bundle + "options.enabled-protocols=TLSv1.3",
            bundle + "options.ciphers=TLS_AES_256_GCM_SHA384",
            "redlock.ssl.bundle=locks",
            "redlock.nodes=" + String.join(",", TlsMaster.uris(MASTERS)),
            "redlock.connect-timeout=2s", // The first handshake of a JVM is slow.
            "redlock.restart-guard=off");
  }

  @Test
  void bundle_withTrustAndKey_connectsAndLocks() {
    app(trusted, trusted)
        .run(
            context -> {
              Redlock redlock = context.getBean(Redlock.class);
              assertThat(redlock.awaitReady(MemoryNodes.DEADLINE))
                  .as(TlsMaster.describe(MASTERS))
                  .isTrue();
              try (Lease lease = redlock.lock("name").acquire(MemoryNodes.DEADLINE)) {
                assertThat(lease.isValid()).isTrue();
              }
            });
  }

  @Test
  void bundle_thatDoesNotTrustTheServer_givesNoVoteAndTheReason() {
    app(stranger, trusted).run(context -> requireNoVote(context.getBean(Redlock.class)));
  }

  @Test
  void bundle_whoseKeyTheServerDoesNotTrust_givesNoVoteAndTheReason() {
    app(trusted, stranger).run(context -> requireNoVote(context.getBean(Redlock.class)));
  }

  @Test
  void bundle_thatIsReloaded_servesNewConnections() throws Exception {
    Path trust = directory.resolve("changing.p12");
    Files.copy(stranger.store(), trust, StandardCopyOption.REPLACE_EXISTING);
    app(trusted, trusted)
        .withPropertyValues(
            "spring.ssl.bundle.jks.locks.truststore.location=" + trust.toUri(),
            "spring.ssl.bundle.jks.locks.reload-on-update=true",
            "spring.ssl.bundle.watch.file.quiet-period=10ms")
        .run(
            context -> {
              Redlock redlock = context.getBean(Redlock.class);
              requireNoVote(redlock);

              Files.copy(trusted.store(), trust, StandardCopyOption.REPLACE_EXISTING);

              assertThat(redlock.awaitReady(MemoryNodes.DEADLINE))
                  .as(TlsMaster.describe(MASTERS))
                  .isTrue();
            });
  }

  private static void requireNoVote(Redlock redlock) {
    await()
        .atMost(MemoryNodes.DEADLINE)
        .untilAsserted(
            () ->
                assertThat(redlock.operations().nodes())
                    .allSatisfy(node -> assertThat(node.cause()).isNotEmpty()));
    assertThat(redlock.operations().ready().toCompletableFuture()).isNotDone();
  }
}
