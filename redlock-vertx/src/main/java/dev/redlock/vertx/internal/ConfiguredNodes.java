package dev.redlock.vertx.internal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.spi.LockNode;
import dev.redlock.vertx.RedlockOptions;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.SslOptions;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
      RedisCredentials credentials = RedisCredentials.just(o.getUsername(), password.toCharArray());
      builder.credentials(RedisCredentialsProvider.from(() -> credentials));
    }
    SslOptions ssl = ssl(o);
    if (ssl != null) {
      builder.sslOptions(ssl);
    }
    return builder.build();
  }

  private static @Nullable SslOptions ssl(RedlockOptions o) {
    String trust = o.getTrustCertificatePath();
    String certificate = o.getClientCertificatePath();
    String key = o.getClientKeyPath();
    if (trust == null && certificate == null && key == null) {
      return null;
    }
    SslOptions.Builder builder = SslOptions.builder().jdkSslProvider();
    if (trust != null) {
      builder.trustManager(readable("trustCertificatePath", trust));
    }
    if (certificate != null && key != null) {
      builder.keyManager(
          readable("clientCertificatePath", certificate), pkcs8("clientKeyPath", key), new char[0]);
    } else if (certificate != null || key != null) {
      throw new IllegalArgumentException(
          "clientCertificatePath "
              + certificate
              + " and clientKeyPath "
              + key
              + " must be given together");
    }
    return builder.build();
  }

  private static File readable(String field, String path) {
    File file = new File(path);
    if (!file.canRead()) {
      throw new IllegalArgumentException(field + " " + path + " cannot be read");
    }
    return file;
  }

  /** The TLS library reads no other form, and would only say so when the nodes are connected. */
  private static File pkcs8(String field, String path) {
    File file = readable(field, path);
    try {
      if (!Files.readString(file.toPath(), ISO_8859_1).contains("-----BEGIN PRIVATE KEY-----")) {
        throw new IllegalArgumentException(
            field
                + " "
                + path
                + " must be a PKCS #8 key in PEM form that is not encrypted;"
                + " openssl pkcs8 -topk8 -nocrypt converts other forms");
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(field + " " + path + " cannot be read", e);
    }
    return file;
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
