package dev.redlock.redis.internal.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockKeys;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WireTest {
  @ParameterizedTest
  @ValueSource(strings = {"a", "a:1:queue", "}:1:queue", "buy_{42}", ":1:{x}:2:", "%node", "{"})
  void keysOfTheQueue_haveTheVersionBehindTheLockKey(String name) {
    LockKeys keys = LockKeys.of("redlock:2:x", List.of(name));
    String prefix = keys.lockKey(0) + ":" + Wire.VERSION;
    assertThat(keys.queueKey()).isEqualTo(prefix + ":queue");
    assertThat(keys.wakeKey("p.1:2")).isEqualTo(prefix + ":wake:p.1:2");
    assertThat(keys.watchKey("p")).isEqualTo(prefix + ":watch:p");
  }

  @Test
  void scripts_nameTheKeysOfTheQueueWithTheVersion() {
    for (Script script : Script.LOADED) {
      assertThat(new String(script.text(), UTF_8))
          .as(script.name())
          .doesNotContain("':queue", "':wake", "':watch");
    }
  }
}
