package dev.redlock.vertx.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.vertx.RedlockOptions;
import io.lettuce.core.SslOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Base64;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfiguredNodesTest {
  @TempDir Path directory;

  @Test
  void trustCertificatePath_whoseFileIsReplaced_isReadAtEachConnection() throws Exception {
    Path trust = Files.writeString(directory.resolve("trust.pem"), "not yet a certificate");
    LettuceOptions options =
        ConfiguredNodes.lettuce(new RedlockOptions().setTrustCertificatePath(trust.toString()));
    SslOptions ssl = options.sslOptions();
    assertThat(ssl).isNotNull();
    assertThatThrownBy(ssl::createSslContextBuilder).hasMessageContaining("certificate");

    Files.writeString(trust, pem(anyCertificate()));

    assertThat(ssl.createSslContextBuilder().build().isClient()).isTrue();
  }

  private static X509Certificate anyCertificate() throws Exception {
    TrustManagerFactory platform =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    platform.init((KeyStore) null);
    return ((X509TrustManager) platform.getTrustManagers()[0]).getAcceptedIssuers()[0];
  }

  private static String pem(X509Certificate certificate) throws Exception {
    return "-----BEGIN CERTIFICATE-----\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(certificate.getEncoded())
        + "\n-----END CERTIFICATE-----\n";
  }
}
