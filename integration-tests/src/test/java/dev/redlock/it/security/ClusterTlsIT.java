package dev.redlock.it.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.harness.Certificates;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.harness.TlsMaster;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisSource;
import dev.redlock.testkit.RedisStartException;
import io.lettuce.core.SslOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster over TLS, also between its servers, with a certificate that holds a name only. */
class ClusterTlsIT {
  private static final int ATTEMPTS = 5;
  private static final int MASTERS = 3;
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final LockOptions OPTIONS =
      LockOptions.builder().nodeTimeout(Duration.ofSeconds(1)).build();

  @TempDir static Path temp;
  private static Certificates certificates;

  @BeforeAll
  static void sign() throws Exception {
    certificates = Certificates.in(temp);
    certificates.sign("named", "dns:localhost");
  }

  /** The plain port of each master is for the test kit. */
  private static RedisClusterNodes start(List<Integer> ports) throws IOException {
    Optional<String> none = RedisSource.PATH.whyUnavailable();
    if (none.isPresent()) {
      throw TlsMaster.skip(none.get());
    }
    for (int attempt = 1; ; attempt++) {
      ports.clear();
      while (ports.size() < MASTERS) {
        ports.add(TlsMaster.freePort());
      }
      List<Integer> chosen = List.copyOf(ports);
      try {
        return RedisClusterNodes.builder()
            .source(RedisSource.PATH)
            .masters(MASTERS)
            .replicas(0)
            .nodeTimeout(Duration.ofSeconds(15))
            .serverArgs(
                "--tls-cert-file",
                certificates.certificate("named").toString(),
                "--tls-key-file",
                certificates.key("named").toString(),
                "--tls-ca-cert-file",
                certificates.certificate("authority").toString(),
                "--tls-auth-clients",
                "no",
                "--tls-cluster",
                "yes")
            .nodeArgs(index -> List.of("--tls-port", Integer.toString(chosen.get(index))))
            .start();
      } catch (RedisStartException e) {
        String why = e + " " + e.getCause();
        if (why.contains("tls-") || why.contains("Bad directive")) {
          throw TlsMaster.skip("the redis-server on the PATH was built without TLS");
        } else if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  @Tag("thorough")
  @Test
  void certificateWithANameOnly_isTrusted_onceTheServersAnnounceThatName() throws Exception {
    List<Integer> ports = new ArrayList<>();
    try (RedisClusterNodes cluster = start(ports)) {
      SslOptions ssl =
          SslOptions.builder()
              .jdkSslProvider()
              .trustManager(certificates.certificate("authority").toFile())
              .build();
      ClusterOptions options =
          ClusterOptions.builder()
              .refreshPeriod(Duration.ofSeconds(1))
              .lettuce(
                  LettuceOptions.builder()
                      .sslOptions(ssl)
                      .connectTimeout(Duration.ofSeconds(2))
                      .build())
              .build();
      String seed = "rediss://localhost:" + ports.get(0);
      try (Redlock redlock =
          Redlock.builder()
              .nodes(ClusterLockNode.connect(List.of(seed), options))
              .restartGuard(RestartGuard.OFF)
              .build()) {
        // The cluster reports 127.0.0.1, which is not in the certificate.
        await(cluster.describe())
            .atMost(WAIT)
            .until(() -> redlock.operations().nodes().get(0), node -> node.cause().contains("TLS"));
        assertThat(redlock.operations().nodes().get(0).state())
            .isNotEqualTo(NodeState.State.VOTING);
        for (RedisNode node : cluster) {
          node.command("CONFIG", "SET", "cluster-announce-hostname", "localhost");
          node.command("CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname");
        }
        await(cluster.describe())
            .atMost(WAIT)
            .until(() -> redlock.operations().nodes().get(0).state() == NodeState.State.VOTING);
        for (RedisNode master : cluster.masters()) {
          redlock.lock(nameOn(cluster, master), OPTIONS).acquire(WAIT).close();
        }
        // An empty slot: a server that migrates keys would use TLS on the plain port.
        int slot = RedisClusterNodes.slot("{empty}");
        RedisNode from = cluster.masterOf(slot);
        cluster.moveSlot(slot, cluster.get((from.index() + 1) % MASTERS));
        redlock.lock("tls_{empty}", OPTIONS).acquire(WAIT).close();
      }
    }
  }

  private static String nameOn(RedisClusterNodes cluster, RedisNode master) {
    int i = 0;
    while (cluster.masterOf("{t" + i + "}") != master) {
      i++;
    }
    return "tls_{t" + i + "}";
  }
}
