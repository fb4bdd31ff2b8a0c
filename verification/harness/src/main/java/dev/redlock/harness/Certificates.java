package dev.redlock.harness;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A certificate authority and its certificates. The JDK's keytool creates them when the tests run,
 * so nothing in the repository expires and no library is needed. Files are in PEM format, as
 * servers expect.
 */
public final class Certificates {
  /** Of the key store. */
  public static final String PASSWORD = "changeit";

  private static final Base64.Encoder PEM =
      Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));

  private final Path directory;
  private final Path store;

  private Certificates(Path directory) {
    this.directory = directory;
    this.store = directory.resolve("store.p12");
  }

  /** Makes the authority. */
  public static Certificates in(Path directory) throws IOException, GeneralSecurityException {
    Certificates made = new Certificates(directory);
    made.generate("authority", "-dname", "CN=authority", "-ext", "bc:c=ca:true", "-validity", "2");
    made.export("authority");
    return made;
  }

  /** Signs a certificate for these names, such as {@code dns:localhost}; valid now. */
  public void sign(String alias, String names) throws IOException, GeneralSecurityException {
    sign(alias, names, "-validity", "2");
  }

  /** Signs a certificate that ended two days ago. */
  public void signExpired(String alias, String names) throws IOException, GeneralSecurityException {
    sign(alias, names, "-startdate", "-3d", "-validity", "1");
  }

  private void sign(String alias, String names, String... when)
      throws IOException, GeneralSecurityException {
    List<String> options =
        new ArrayList<>(
            List.of("-signer", "authority", "-dname", "CN=" + alias, "-ext", "san=" + names));
    options.addAll(List.of(when));
    generate(alias, options.toArray(String[]::new));
    export(alias);
  }

  public Path certificate(String alias) {
    return directory.resolve(alias + ".crt");
  }

  public Path key(String alias) {
    return directory.resolve(alias + ".key");
  }

  /** The key store (PKCS #12) with all of them and their keys. */
  public Path store() {
    return store;
  }

  private void generate(String alias, String... options) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(
        List.of("-J-XX:TieredStopAtLevel=1", "-J-Xshare:auto")); // It runs for a moment only.
    command.addAll(List.of("-genkeypair", "-alias", alias, "-keyalg", "EC"));
    command.addAll(List.of("-keystore", store.toString(), "-storetype", "PKCS12"));
    command.addAll(List.of("-storepass", PASSWORD));
    command.addAll(List.of(options));
    Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (!keytool.waitFor(30, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
        throw new IOException(command + ": " + said);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  private void export(String alias) throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    StringBuilder chain = new StringBuilder();
    for (Certificate certificate : keys.getCertificateChain(alias)) {
      chain.append(pem("CERTIFICATE", certificate.getEncoded()));
    }
    Files.writeString(certificate(alias), chain);
    Files.writeString(
        key(alias), pem("PRIVATE KEY", keys.getKey(alias, PASSWORD.toCharArray()).getEncoded()));
  }

  private static String pem(String what, byte[] content) {
    return "-----BEGIN "
        + what
        + "-----\n"
        + PEM.encodeToString(content)
        + "\n-----END "
        + what
        + "-----\n";
  }
}
