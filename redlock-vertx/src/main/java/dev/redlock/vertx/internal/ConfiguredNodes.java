package dev.redlock.vertx.internal;

import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.lettuce.Credentials;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.PemFile;
import dev.redlock.spi.LockNode;
import dev.redlock.vertx.RedlockOptions;
import io.lettuce.core.SslOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Makes the nodes that the options describe. */
final class ConfiguredNodes {
  private ConfiguredNodes() {}

  static List<LockNode> of(RedlockOptions o) {
    if (o.getNodes().isEmpty()) {
      return List.of(); // The customizer adds them, or the builder complains.
    }
    LettuceOptions lettuce = lettuce(o);
    return o.isCluster()
        ? List.of(OneCluster.of(o.getNodes(), lettuce))
        : LettuceNodes.standalone(o.getNodes(), lettuce);
  }

  static LettuceOptions lettuce(RedlockOptions o) {
    LettuceOptions.Builder builder = LettuceOptions.builder();
    String password = o.getPassword();
    if (password != null) {
      Credentials credentials = new Credentials(o.getUsername(), password.toCharArray());
      builder.credentials(() -> CompletableFuture.completedStage(credentials));
    }
    SslOptions ssl =
        PemFile.tls(
            new PemFile("trustCertificatePath", o.getTrustCertificatePath()),
            new PemFile("clientCertificatePath", o.getClientCertificatePath()),
            new PemFile("clientKeyPath", o.getClientKeyPath()));
    if (ssl != null) {
      builder.sslOptions(ssl);
    }
    return builder.build();
  }

  /** Loaded in cluster mode only: the adapter is an optional dependency. */
  private static final class OneCluster {
    static LockNode of(List<String> seeds, LettuceOptions lettuce) {
      try {
        return ClusterLockNode.connect(seeds, ClusterOptions.builder().lettuce(lettuce).build());
      } catch (NoClassDefFoundError e) {
        throw new IllegalStateException(
            "cluster is true, but redlock-cluster-adapter is not on the class path", e);
      }
    }
  }
}
