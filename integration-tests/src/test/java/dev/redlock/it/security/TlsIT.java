package dev.redlock.it.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.Lease;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.harness.Certificates;
import dev.redlock.harness.TlsMaster;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import io.lettuce.core.SslOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS connections: which servers are trusted, which are not, and how a user learns the reason. */
class TlsIT {
  @TempDir static Path temp;
  private static Certificates certificates;

  private final List<AutoCloseable> open = new ArrayList<>();
  private final List<TlsMaster> masters = new ArrayList<>();

  @BeforeAll
  static void sign() throws Exception {
    certificates = Certificates.in(temp);
    certificates.sign("good", "dns:localhost,ip:127.0.0.1");
    certificates.sign("elsewhere", "dns:elsewhere.example");
    certificates.signExpired("expired", "dns:localhost");
  }

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private TlsMaster master(String alias) throws IOException {
    return master(alias, false);
  }

  private TlsMaster master(String alias, boolean wantsClientCertificate) throws IOException {
    TlsMaster master = TlsMaster.start(temp, certificates, alias, wantsClientCertificate);
    open.add(master);
    masters.add(master);
    return master;
  }

  private static SslOptions.Builder trusting() {
    return SslOptions.builder()
        .jdkSslProvider()
        .trustManager(certificates.certificate("authority").toFile());
  }

  private Redlock client(SslOptions ssl, String... uris) {
    LettuceOptions options =
        ssl == null
            ? LettuceOptions.defaults()
            // The first handshake of a JVM is slow, and the machine may be busy.
            : LettuceOptions.builder()
                .sslOptions(ssl)
                .connectTimeout(Duration.ofSeconds(2))
                .build();
    Redlock client =
        Redlock.builder()
            .nodes(LettuceNodes.standalone(List.of(uris), options).toArray(LockNode[]::new))
            .nodeTimeout(Duration.ofMillis(500))
            .restartGuard(RestartGuard.OFF)
            .build();
    open.add(client);
    return client;
  }

  private void voting(Redlock client, int count) {
    await(TlsMaster.describe(masters))
        .atMost(Duration.ofSeconds(15))
        .until(
            client.operations()::nodes,
            nodes ->
                nodes.stream().filter(n -> n.state() == NodeState.State.VOTING).count() == count);
  }

  /** Waits until the node reports why it is not connected, and a vote reports the same. */
  private void assertRefused(Redlock client, String... why) {
    NodeState node =
        await(TlsMaster.describe(masters))
            .atMost(Duration.ofSeconds(15))
            .until(
                () -> client.operations().nodes().get(0),
                state -> List.of(why).stream().allMatch(state.cause()::contains));
    assertThat(node.state()).isIn(NodeState.State.CONNECTING, NodeState.State.PROBING);
    // The next attempt to connect may fail with a different message.
    await(TlsMaster.describe(masters))
        .atMost(Duration.ofSeconds(15))
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> client.lock("tls").tryAcquire())
                    .isInstanceOfSatisfying(
                        QuorumUnavailableException.class,
                        refused -> {
                          NodeVote vote = refused.report().votes().get(0);
                          assertThat(vote.vote()).isEqualTo(Vote.SILENT);
                          assertThat(vote.error()).contains(why);
                        }));
  }

  @Test
  void trustedMasters_lockAsPlainOnesDo_alsoAfterARestart() throws Exception {
    String[] uris = {master("good").uri(), master("good").uri(), master("good").uri()};
    Redlock one = client(trusting().build(), uris);
    Redlock two = client(trusting().build(), uris);
    voting(one, 3);
    voting(two, 3);

    Lease first = one.lock("tls").acquire(Duration.ofSeconds(5));
    CompletableFuture<Lease> waiting = two.lock("tls").acquireAsync(Duration.ofSeconds(10));
    first.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
    first.close();
    try (Lease second = waiting.get(10, TimeUnit.SECONDS)) {
      assertThat(second.fencingToken().value()).isGreaterThan(first.fencingToken().value());
    }
    masters.get(1).node().restart();
    voting(one, 3);
    one.lock("tls").acquire(Duration.ofSeconds(5)).close();
  }

  @Test
  void certificateOfAnotherHost_isRefused_andTheCauseSaysSo() throws Exception {
    assertRefused(client(trusting().build(), master("elsewhere").uri()), "TLS", "localhost");
  }

  @Test
  void expiredCertificate_isRefused_andTheCauseSaysSo_untilItIsRenewed() throws Exception {
    TlsMaster master = master("expired");
    Redlock client = client(trusting().build(), master.uri());
    assertRefused(client, "TLS", "NotAfter");

    master.renew(certificates, "good");

    voting(client, 1);
    client.lock("tls").acquire(Duration.ofSeconds(5)).close();
  }

  @Test
  void trustInAFile_thatIsReplaced_servesNewConnections() throws Exception {
    Path trust = temp.resolve("trust.crt");
    Certificates others = Certificates.in(Files.createDirectory(temp.resolve("others")));
    Files.copy(others.certificate("authority"), trust);
    SslOptions ssl = SslOptions.builder().jdkSslProvider().trustManager(trust.toFile()).build();
    Redlock client = client(ssl, master("good").uri());
    assertRefused(client, "TLS", "PKIX");

    Files.copy(certificates.certificate("authority"), trust, StandardCopyOption.REPLACE_EXISTING);

    voting(client, 1);
  }

  @Test
  void unknownAuthority_isRefused_andTheCauseSaysSo() throws Exception {
    assertRefused(client(null, master("good").uri()), "TLS", "certification path");
  }

  @Test
  void masterThatWantsACertificate_isTold_orTheCauseSaysSo() throws Exception {
    TlsMaster master = master("good", true);
    Redlock without = client(trusting().build(), master.uri());
    assertRefused(without, "TLS", "certificate");

    SslOptions.Builder with =
        trusting()
            .keyManager(
                certificates.certificate("good").toFile(), certificates.key("good").toFile(), null);
    Redlock client = client(with.build(), master.uri());
    voting(client, 1);
    client.lock("tls").acquire(Duration.ofSeconds(5)).close();
  }

  @Test
  void plainPort_isNoTls_andTheCauseSaysSo() throws Exception {
    String uri = "rediss://localhost:" + master("good").node().directPort();
    assertRefused(client(trusting().build(), uri), "TLS");
  }

  @Test
  void tlsPort_isNotReachedWithoutTls() throws Exception {
    Redlock client = client(null, "redis://localhost:" + master("good").port());
    assertRefused(client, "DISCONNECTED");
  }

  @Test
  void verificationSwitchedOff_isWhatTheUriSays() throws Exception {
    Redlock client = client(null, master("elsewhere").uri() + "?verifyPeer=NONE");
    voting(client, 1);
  }
}
