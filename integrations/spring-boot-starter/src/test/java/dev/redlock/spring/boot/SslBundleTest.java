package dev.redlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.spring.MemoryNodes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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
  private static TlsMasters masters;

  @BeforeAll
  static void start() throws Exception {
    masters = TlsMasters.start(3, directory);
  }

  @AfterAll
  static void stop() {
    if (masters != null) {
      masters.close();
    }
  }

  private static ApplicationContextRunner app(String trust, String key) {
    String bundle = "spring.ssl.bundle.jks.locks.";
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(SslAutoConfiguration.class, RedlockAutoConfiguration.class))
        .withPropertyValues(
            bundle + "truststore.location=" + masters.store(trust).toUri(),
            bundle + "truststore.password=" + TlsMasters.PASSWORD,
            bundle + "keystore.location=" + masters.store(key).toUri(),
            bundle + "keystore.password=" + TlsMasters.PASSWORD,
            bundle + "options.enabled-protocols=TLSv1.3",
            bundle + "options.ciphers=TLS_AES_256_GCM_SHA384",
            "redlock.ssl.bundle=locks",
            "redlock.nodes=" + masters.uris(),
            "redlock.connect-timeout=2s", // The first handshake of a JVM is slow.
            "redlock.restart-guard=off");
  }

  @Test
  void bundle_withTrustAndKey_connectsAndLocks() {
    app("trusted", "trusted")
        .run(
            context -> {
              Redlock redlock = context.getBean(Redlock.class);
              assertThat(redlock.awaitReady(MemoryNodes.DEADLINE)).as(masters.describe()).isTrue();
              try (Lease lease = redlock.lock("name").acquire(MemoryNodes.DEADLINE)) {
                assertThat(lease.isValid()).isTrue();
              }
            });
  }

  @Test
  void bundle_thatDoesNotTrustTheServer_givesNoVoteAndTheReason() {
    app("stranger", "trusted").run(context -> requireNoVote(context.getBean(Redlock.class)));
  }

  @Test
  void bundle_whoseKeyTheServerDoesNotTrust_givesNoVoteAndTheReason() {
    app("trusted", "stranger").run(context -> requireNoVote(context.getBean(Redlock.class)));
  }

  @Test
  void bundle_thatIsReloaded_servesNewConnections() throws Exception {
    Path trust = directory.resolve("changing.p12");
    Files.copy(masters.store("stranger"), trust, StandardCopyOption.REPLACE_EXISTING);
    app("trusted", "trusted")
        .withPropertyValues(
            "spring.ssl.bundle.jks.locks.truststore.location=" + trust.toUri(),
            "spring.ssl.bundle.jks.locks.reload-on-update=true",
            "spring.ssl.bundle.watch.file.quiet-period=10ms")
        .run(
            context -> {
              Redlock redlock = context.getBean(Redlock.class);
              requireNoVote(redlock);

              Files.copy(masters.store("trusted"), trust, StandardCopyOption.REPLACE_EXISTING);

              assertThat(redlock.awaitReady(MemoryNodes.DEADLINE)).as(masters.describe()).isTrue();
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
