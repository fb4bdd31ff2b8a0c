package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.redlock.LockOptions;
import dev.redlock.spi.RestartGuard;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedlockOptionsTest {

  @Test
  void json_ofDefaults_comesBackEqual() {
    RedlockOptions defaults = new RedlockOptions();
    JsonObject encoded = new JsonObject(defaults.toJson().encode());
    assertThat(new RedlockOptions(encoded)).isEqualTo(defaults);
    assertThat(defaults.lockOptions()).hasToString(LockOptions.defaults().toString());
  }

  @Test
  void json_ofEveryFieldChanged_comesBackEqual() {
    RedlockOptions all =
        new RedlockOptions()
            .addNode("redis://a:1")
            .addNode("redis://b:2")
            .setKeyPrefix("p")
            .setLabel("pod-3")
            .setMaxLeaseTimeMillis(20_000L)
            .setRestartGuard("marker")
            .setLeaseTimeMillis(10_000)
            .setDriftMillis(7L)
            .setNodeTimeoutMillis(50)
            .setAutoExtend(false)
            .setHoldCapMillis(60_000L)
            .setMinimumHoldMillis(5)
            .setQueueBound(7)
            .setMaxHandOffs(3)
            .setFair(true)
            .setMajorityFirst(true)
            .setPollIntervalMillis(500)
            .setCloseGraceMillis(700)
            .setCluster(true)
            .setUsername("u")
            .setPassword("secret")
            .setTrustCertificatePath("ca.pem")
            .setClientCertificatePath("cert.pem")
            .setClientKeyPath("key.pem")
            .setReleaseHints("always")
            .setReleaseAddress("releases");
    JsonObject json = all.toJson();
    JsonObject defaults = new RedlockOptions().toJson();
    json.forEach(
        field -> assertThat(field.getValue()).isNotEqualTo(defaults.getValue(field.getKey())));
    assertThat(new RedlockOptions(new JsonObject(json.encode()))).isEqualTo(all);
    assertThat(new RedlockOptions(all)).isEqualTo(all);
    assertThat(all.guard()).isEqualTo(RestartGuard.MARKER);
    assertThat(all.lockOptions().drift()).isEqualTo(Duration.ofMillis(7));
  }

  @Test
  void json_ofOneField_leavesTheOthersAtTheirDefaults() {
    RedlockOptions o = new RedlockOptions(new JsonObject().put("leaseTimeMillis", 5_000));
    assertThat(o).isEqualTo(new RedlockOptions().setLeaseTimeMillis(5_000));
  }

  @Test
  void json_ofAShortLeaseTimeAlone_theNodeTimeoutFollows() {
    RedlockOptions o = new RedlockOptions(new JsonObject().put("leaseTimeMillis", 100));
    assertThat(o.lockOptions().nodeTimeout()).isLessThan(Duration.ofMillis(50));
    assertThat(new RedlockOptions(o.toJson())).isEqualTo(o);
  }

  @Test
  void json_unknownField_isIgnored() {
    assertThat(new RedlockOptions(new JsonObject().put("leasTime", 5_000)))
        .isEqualTo(new RedlockOptions());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"leaseTimeMillis\":\"5 s\"}",
        "{\"leaseTimeMillis\":1.5}",
        "{\"maxLeaseTimeMillis\":\"x\"}",
        "{\"queueBound\":5000000000}",
        "{\"fair\":1}",
        "{\"releaseAddress\":\"\"}",
        "{\"releaseHints\":\"sometimes\"}",
        "{\"cluster\":\"yes\"}",
        "{\"holdCapMillis\":\"1 h\"}",
        "{\"password\":[\"secret\"]}",
        "{\"keyPrefix\":7}",
        "{\"label\":\"a\\u0007\"}",
        "{\"nodes\":\"redis://secret@a\"}",
        "{\"nodes\":[1]}",
        "{\"restartGuard\":\"never\"}",
        "{\"nodeTimeoutMillis\":5000}",
        "{\"queueBound\":0}",
        "{\"closeGraceMillis\":-1}"
      })
  void json_badValue_isRefusedByName(String json) {
    JsonObject object = new JsonObject(json);
    String field = object.fieldNames().iterator().next().replace("Millis", "");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RedlockOptions(object))
        .withMessageContaining(field)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("secret"));
  }

  @Test
  void clientKey_ofAnotherFormThanPkcs8_isRefusedWithTheRemedy(@TempDir Path directory)
      throws Exception {
    Path key = directory.resolve("client.key");
    Files.writeString(key, "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\n");
    RedlockOptions options =
        new RedlockOptions()
            .addNode("rediss://localhost:1")
            .setClientCertificatePath(key.toString())
            .setClientKeyPath(key.toString());
    Vertx vertx = Vertx.vertx();
    try {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> CheckedVertx.get(VertxRedlock.connect(vertx, options)))
          .withMessageContaining("clientKeyPath " + key)
          .withMessageContaining("openssl pkcs8 -topk8 -nocrypt")
          .withMessageNotContaining("MII");
    } finally {
      CheckedVertx.get(vertx.close());
    }
  }

  @Test
  void toString_neverShowsTheNodes() {
    assertThat(new RedlockOptions().addNode("redis://user:secret@host").toString())
        .doesNotContain("secret");
    assertThat(new RedlockOptions().setPassword("secret").toString()).doesNotContain("secret");
  }
}
