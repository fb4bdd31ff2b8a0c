package dev.redlock.lettuce.internal.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WireTest {
  private static final Wire SECOND = new Wire(2, text -> text.replace("':1:", "':2:"));

  @ParameterizedTest
  @ValueSource(strings = {"a", "a:1:queue", "}:1:queue", "buy_{42}", ":1:{x}:2:", "%node", "{"})
  void keysOfTheQueue_haveTheVersionBehindTheLockKey(String name) {
    LockKeys keys = LockKeys.of("redlock:2:x", List.of(name));
    String lockKey = keys.lockKey(0);
    for (Wire wire : List.of(Wire.FIRST, SECOND)) {
      String prefix = lockKey + ":" + wire.version();
      assertThat(wire.named(keys.queueKey())).isEqualTo(prefix + ":queue");
      assertThat(wire.named(keys.wakeKey("p.1:2"))).isEqualTo(prefix + ":wake:p.1:2");
      assertThat(wire.named(keys.watchKey("p"))).isEqualTo(prefix + ":watch:p");
      for (String key : List.of(keys.queueKey(), keys.wakeKey("p:1:2:"), keys.watchKey("p"))) {
        assertThat(wire.original(wire.named(key))).isEqualTo(key);
      }
      assertThat(wire.original(lockKey)).isEqualTo(lockKey);
      assertThat(wire.original(lockKey + ":fence")).isEqualTo(lockKey + ":fence");
    }
    String ofSecond = SECOND.named(keys.wakeKey("p"));
    assertThat(Wire.FIRST.original(ofSecond)).isEqualTo(ofSecond);
  }

  @Test
  void scripts_nameTheKeysAsTheirVersionDoes() {
    for (Script script : Script.LOADED) {
      String first = new String(Wire.FIRST.text(script), UTF_8);
      assertThat(first).isEqualTo(new String(script.text(), UTF_8));
      assertThat(Wire.FIRST.sha(script)).isEqualTo(script.sha());
      assertThat(first).doesNotContain("':queue", "':wake", "':watch");
      boolean usesQueue = first.contains(":queue'");
      assertThat(new String(SECOND.text(script), UTF_8).contains("':2:queue'"))
          .as(script.name())
          .isEqualTo(usesQueue);
    }
  }

  @Test
  void requestForTwoNodesOfDifferentVersions_isEncodedForEach() {
    LockKeys keys = LockKeys.of("redlock", List.of("a"));
    LockRequest request =
        new LockRequest.Enqueue(keys, new LockRequest.QueueEntry("p", 0, 1, 1_000, false), 0);
    EncodedRequest first = EncodedRequest.of(request, 7);
    EncodedRequest second = EncodedRequest.of(request, 7, "", SECOND);
    assertThat(new String(first.evalSha(), UTF_8)).contains("{a}:1:queue", "{a}:1:wake:p");
    assertThat(new String(second.evalSha(), UTF_8))
        .contains("{a}:2:queue", "{a}:2:wake:p", "{a}:2:watch:p")
        .doesNotContain(":1:");
    assertThat(EncodedRequest.of(request, 7)).as("both are kept").isSameAs(first);
  }

  @Test
  void versions_areFoundByTheirNumber() {
    Wires both = new Wires(List.of(Wire.FIRST, SECOND));
    assertThat(both.of(2)).isSameAs(SECOND);
    assertThat(both.of(3)).isNull();
    assertThat(both).hasToString("versions 1 and 2");
    assertThat(Wires.SHIPPED).hasToString("version 1");
  }
}
