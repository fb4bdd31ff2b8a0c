package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.redlock.LockOptions;
import dev.redlock.spi.RestartGuard;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import org.junit.jupiter.api.Test;
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
            .setMaxLeaseTimeMillis(20_000L)
            .setRestartGuard("marker")
            .setLeaseTimeMillis(10_000)
            .setDriftMillis(7L)
            .setNodeTimeoutMillis(50)
            .setAutoExtend(false)
            .setHoldCapMillis(60_000)
            .setMinimumHoldMillis(5)
            .setQueueBound(7)
            .setMaxHandOffs(3)
            .setFair(true)
            .setLineTimeoutMillis(4_000)
            .setPollIntervalMillis(500)
            .setReleaseAddress(null)
            .setAddressPerName(true)
            .setBridgeRedisHints(true)
            .setEventAddress("events")
            .setLocalOnly(false);
    JsonObject json = all.toJson();
    JsonObject defaults = new RedlockOptions().toJson();
    json.forEach(
        field -> assertThat(field.getValue()).isNotEqualTo(defaults.getValue(field.getKey())));
    assertThat(new RedlockOptions(new JsonObject(json.encode()))).isEqualTo(all);
    assertThat(new RedlockOptions(all)).isEqualTo(all);
    assertThat(all.guard()).isEqualTo(RestartGuard.marker());
    assertThat(all.lockOptions().drift()).isEqualTo(Duration.ofMillis(7));
  }

  @Test
  void json_ofOneField_leavesTheOthersAtTheirDefaults() {
    RedlockOptions o = new RedlockOptions(new JsonObject().put("leaseTimeMillis", 5_000));
    assertThat(o).isEqualTo(new RedlockOptions().setLeaseTimeMillis(5_000));
  }

  @Test
  void json_unknownField_isRefusedByName() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RedlockOptions(new JsonObject().put("leasTime", 5_000)))
        .withMessageContaining("leasTime")
        .withMessageContaining("leaseTimeMillis");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"leaseTimeMillis\":\"5 s\"}",
        "{\"leaseTimeMillis\":null}",
        "{\"leaseTimeMillis\":1.5}",
        "{\"maxLeaseTimeMillis\":\"x\"}",
        "{\"queueBound\":5000000000}",
        "{\"fair\":1}",
        "{\"localOnly\":\"yes\"}",
        "{\"releaseAddress\":\"\"}",
        "{\"keyPrefix\":7}",
        "{\"nodes\":\"redis://secret@a\"}",
        "{\"nodes\":[1]}",
        "{\"restartGuard\":\"never\"}",
        "{\"nodeTimeoutMillis\":5000}",
        "{\"queueBound\":0}"
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
  void toString_neverShowsTheNodes() {
    assertThat(new RedlockOptions().addNode("redis://user:secret@host").toString())
        .doesNotContain("secret");
  }
}
