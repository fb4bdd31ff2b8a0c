package dev.redlock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.Certificates;
import dev.redlock.harness.TlsMaster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Masters with an authority of their own that want the certificate of the client. */
@Timeout(300)
class TlsMastersIT {
  @TempDir static Path folder;
  private static Certificates certificates;
  private static final List<TlsMaster> MASTERS = new ArrayList<>();

  @BeforeAll
  static void start() throws IOException, GeneralSecurityException {
    certificates = Certificates.in(Files.createDirectory(folder.resolve("certificates")));
    certificates.sign("good", "dns:localhost");
    for (int i = 0; i < 3; i++) {
      MASTERS.add(TlsMaster.start(folder, certificates, "good", true));
    }
  }

  @AfterAll
  static void stop() {
    MASTERS.forEach(TlsMaster::close);
  }

  private static String redlock(Map<String, String> more, String line) throws Exception {
    List<String> command = List.of("sh", "-c", "redlock " + line + " 2>&1; echo $?");
    Path out = Files.createTempFile(folder, "out", "");
    ProcessBuilder builder =
        Installed.process(folder, System.getProperty("java.home"), command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile());
    builder.environment().put("REDLOCK_NODES", String.join(",", TlsMaster.uris(MASTERS)));
    builder.environment().putAll(more);
    Process process = builder.start();
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).as(TlsMaster.describe(MASTERS)).isTrue();
    return Files.readString(out);
  }

  private static final String RUN = "run --connect 60s --restart-guard OFF ";

  @Test
  void options_withAuthorityCertificateAndKey_connect() throws Exception {
    String files = "--ca authority.crt --cert good.crt --key good.key";
    String line = RUN + files.replaceAll("([a-z]+\\.[a-z]+)", "certificates/$1") + " a -- echo ran";
    assertThat(redlock(Map.of(), line)).isEqualTo("ran\n0\n");
  }

  @Test
  void variables_andSettingsOfTheFile_connect() throws Exception {
    Map<String, String> variables =
        Map.of(
            "REDLOCK_CA", certificates.certificate("authority").toString(),
            "REDLOCK_CERT", certificates.certificate("good").toString(),
            "REDLOCK_KEY", certificates.key("good").toString());
    assertThat(redlock(variables, RUN + "b -- echo ran")).isEqualTo("ran\n0\n");

    List<String> lines = new ArrayList<>(TlsMaster.uris(MASTERS));
    lines.add("ca = " + certificates.certificate("authority"));
    lines.add("cert = " + certificates.certificate("good"));
    lines.add("key = " + certificates.key("good"));
    Path file = Files.write(folder.resolve("nodes"), lines);
    assertThat(redlock(Map.of(), "inspect --restart-guard OFF --nodes-file " + file + " b"))
        .startsWith("'b' is free")
        .endsWith("\n1\n");
  }

  @Test
  void withoutTheAuthority_noMasterIsTrusted_andTheReasonIsSaid() throws Exception {
    assertThat(redlock(Map.of(), "run --connect 2s a -- echo ran"))
        .containsIgnoringCase("certificat")
        .doesNotContain("ran\n")
        .endsWith("\n69\n");
  }

  @Test
  void filesThatCannotServe_areRefused() throws Exception {
    assertThat(redlock(Map.of(), "run --ca nothing.crt a -- echo ran"))
        .contains("--ca nothing.crt cannot be read")
        .endsWith("\n64\n");
    assertThat(redlock(Map.of(), "run --cert certificates/good.crt a -- echo ran"))
        .contains("--cert certificates/good.crt and --key (not given) must be given together")
        .endsWith("\n64\n");
    String swapped = "--cert certificates/good.crt --key certificates/good.crt";
    assertThat(redlock(Map.of(), "run " + swapped + " a -- echo ran"))
        .contains("--key certificates/good.crt must be a PKCS #8 key")
        .endsWith("\n64\n");
  }
}
