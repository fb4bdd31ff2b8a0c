package dev.redlock.internal.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WireRequestTest {
  private static final long LIFE = 120_000;
  private static final LockKeys ONE = LockKeys.of("redlock", List.of("a"));
  private static final LockKeys TWO = LockKeys.of("redlock", List.of("{t}b", "{t}a"));

  private static WireRequest wire(LockRequest request) {
    return WireRequest.of(request, LIFE);
  }

  /** The words after script, of the command as Redis reads it. */
  private static List<String> words(byte[] frame, Script script, String command) {
    String text = new String(frame, UTF_8);
    List<String> words = new ArrayList<>();
    int at = text.indexOf("\r\n");
    int count = Integer.parseInt(text.substring(1, at));
    assertThat(text.charAt(0)).isEqualTo('*');
    at += 2;
    byte[] bytes = frame;
    for (int i = 0; i < count; i++) {
      assertThat((char) bytes[at]).isEqualTo('$');
      int end = at;
      while (bytes[end] != '\r') {
        end++;
      }
      int length = Integer.parseInt(new String(bytes, at + 1, end - at - 1, UTF_8));
      words.add(new String(bytes, end + 2, length, UTF_8));
      at = end + 2 + length + 2;
    }
    assertThat(at).as("nothing follows").isEqualTo(frame.length);
    assertThat(words.remove(0)).isEqualTo(command);
    assertThat(words.remove(0))
        .isEqualTo(new String(command.equals("EVAL") ? script.text() : script.sha(), UTF_8));
    return words;
  }

  private static List<String> words(LockRequest request, Script script) {
    WireRequest wire = wire(request);
    assertThat(wire.script()).isEqualTo(script);
    List<String> words = words(wire.evalSha(), script, "EVALSHA");
    assertThat(words(wire.eval(), script, "EVAL")).isEqualTo(words);
    return words;
  }

  @Test
  void acquire_withoutFrills_hasFourArguments() {
    assertThat(
            words(
                new LockRequest.Acquire(ONE, "id", 1764000000123456L, 30_000, null, 0, null),
                Script.ACQUIRE))
        .containsExactly(
            "2", "redlock:{a}", "redlock:{a}:fence", "id", "1764000000123456", "30000", "120000");
  }

  @Test
  void acquire_handOff_addsThePredecessor() {
    assertThat(
            words(new LockRequest.Acquire(ONE, "id", 12, 30_000, "old", 11, null), Script.ACQUIRE))
        .endsWith("id", "12", "30000", "120000", "old", "11");
  }

  @Test
  void acquire_inLine_addsKeyAndPlace() {
    LockRequest.Line line = new LockRequest.Line("p\u00e9", 7, 5_000, true);
    assertThat(words(new LockRequest.Acquire(ONE, "id", 12, 30_000, null, 0, line), Script.ACQUIRE))
        .containsExactly(
            "3",
            "redlock:{a}",
            "redlock:{a}:fence",
            "redlock:{a}:line",
            "id",
            "12",
            "30000",
            "120000",
            "",
            "0",
            "p\u00e9",
            "7",
            "5000",
            "1");
  }

  @Test
  void severalNames_areSorted_keyByKey() {
    assertThat(words(new LockRequest.Extend(TWO, "id", 12, 30_000), Script.EXTEND))
        .containsExactly(
            "4",
            TWO.lockKey(0),
            TWO.lockKey(0) + ":fence",
            TWO.lockKey(1),
            TWO.lockKey(1) + ":fence",
            "id",
            "12",
            "30000",
            "120000");
  }

  @Test
  void release_andBreakAndInspect() {
    assertThat(words(new LockRequest.Release(ONE, "id", 12, true, 0, null), Script.RELEASE))
        .endsWith("id", "12", "120000", "1", "0");
    assertThat(words(new LockRequest.Release(ONE, "id", 12, false, 300, "p"), Script.RELEASE))
        .containsExactly(
            "3",
            "redlock:{a}",
            "redlock:{a}:fence",
            "redlock:{a}:line",
            "id",
            "12",
            "120000",
            "0",
            "300",
            "p");
    assertThat(words(new LockRequest.Break(ONE, 12), Script.BREAK))
        .containsExactly("2", "redlock:{a}", "redlock:{a}:fence", "12", "120000");
    assertThat(words(new LockRequest.Inspect(ONE), Script.INSPECT))
        .containsExactly("2", "redlock:{a}", "redlock:{a}:fence");
  }

  @Test
  void keyNames_areThoseOfTheScript() {
    WireRequest wire = wire(new LockRequest.Inspect(TWO));
    assertThat(wire.keyName(1)).isEqualTo(TWO.lockKey(0));
    assertThat(wire.keyName(2)).isEqualTo(TWO.lockKey(0) + ":fence");
    assertThat(wire.keyName(3)).isEqualTo(TWO.lockKey(1));
    assertThat(wire.keyName(5)).isEqualTo(TWO.lockKey(0) + ":line");
  }

  @Test
  void fenceLife_isLongerThanAnyLeaseAndWindow() {
    assertThat(WireRequest.fenceLifeMillis(Duration.ofSeconds(30))).isEqualTo(120_000);
  }

  @Test
  void scripts_areSentWithoutComments_andHaveAHash() {
    for (Script script : Script.values()) {
      assertThat(new String(script.text(), UTF_8)).doesNotContain("--").contains("redis.call");
      assertThat(new String(script.sha(), UTF_8)).matches("[0-9a-f]{40}");
    }
    assertThat(Script.values()).extracting(Script::bit).doesNotHaveDuplicates();
  }
}
