package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.lettuce.core.SslOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file for TLS that an option names. Its content is read at each connection, so what takes its
 * place later counts.
 *
 * @param option what the user calls it
 * @param path the file; null if the option was not given
 */
public record PemFile(String option, @Nullable String path) {

  /**
   * TLS with these files; null without any.
   *
   * @throws IllegalArgumentException if one cannot be read, or the certificate of this client came
   *     without its key
   */
  public static @Nullable SslOptions tls(PemFile trust, PemFile certificate, PemFile key) {
    Path trusted = trust.readable();
    Path own = certificate.readable();
    Path secret = key.pkcs8();
    if ((own == null) != (secret == null)) {
      throw new IllegalArgumentException(certificate + " and " + key + " must be given together");
    }
    if (trusted == null && own == null) {
      return null;
    }
    SslOptions.Builder tls = SslOptions.builder().jdkSslProvider();
    if (trusted != null) {
      tls.trustManager(trusted.toFile());
    }
    if (own != null && secret != null) {
      tls.keyManager(own.toFile(), secret.toFile(), new char[0]);
    }
    return tls.build();
  }

  private @Nullable Path readable() {
    if (path == null) {
      return null;
    }
    Path file = Path.of(path).toAbsolutePath(); // Streams of a File do not know user.dir.
    if (!Files.isReadable(file)) {
      throw new IllegalArgumentException(this + " cannot be read");
    }
    return file;
  }

  /** The TLS library reads no other form, and would only say so when the nodes are connected. */
  private @Nullable Path pkcs8() {
    Path file = readable();
    try {
      if (file != null
          && !Files.readString(file, ISO_8859_1).contains("-----BEGIN PRIVATE KEY-----")) {
        throw new IllegalArgumentException(
            this
                + " must be a PKCS #8 key in PEM form that is not encrypted;"
                + " openssl pkcs8 -topk8 -nocrypt converts other forms");
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(this + " cannot be read", e);
    }
    return file;
  }

  @Override
  public String toString() {
    return option + " " + (path == null ? "(not given)" : path);
  }
}
