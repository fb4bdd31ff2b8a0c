package dev.redlock.redis.internal.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EncodedRequestTest {
  private static final long LIFE = 120_000;
  private static final LockKeys ONE = LockKeys.of("redlock", List.of("a"));
  private static final LockKeys TWO = LockKeys.of("redlock", List.of("{t}b", "{t}a"));

  private static EncodedRequest encoded(LockRequest request) {
    return EncodedRequest.of(request, LIFE);
  }

  /** The words of the command after the script. */
  private static List<String> words(byte[] bytes, Script script, String command) {
    String text = new String(bytes, UTF_8);
    List<String> words = new ArrayList<>();
    int at = text.indexOf("\r\n");
    int count = Integer.parseInt(text.substring(1, at));
    assertThat(text.charAt(0)).isEqualTo('*');
    at += 2;
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
    assertThat(at).as("nothing follows").isEqualTo(bytes.length);
    assertThat(words.remove(0)).isEqualTo(command);
    assertThat(words.remove(0))
        .isEqualTo(new String(command.equals("EVAL") ? script.text() : script.sha(), UTF_8));
    return words;
  }

  private static List<String> words(LockRequest request, Script script) {
    EncodedRequest encoded = encoded(request);
    assertThat(encoded.script()).isEqualTo(script);
    List<String> words = words(encoded.evalSha(), script, "EVALSHA");
    assertThat(words(encoded.eval(), script, "EVAL")).isEqualTo(words);
    return words;
  }

  @Test
  void acquire_plain_hasFourArguments() {
    assertThat(
            words(
                new LockRequest.Acquire(ONE, "id", 1764000000123456L, 30_000, null),
                Script.ACQUIRE))
        .containsExactly(
            "2", "redlock:{a}", "redlock:{a}:fence", "id", "1764000000123456", "30000", "120000");
  }

  @Test
  void acquire_withQueueEntry_addsKeyAndEntry() {
    LockRequest.QueueEntry entry = new LockRequest.QueueEntry("p\u00e9", 7, 5_000, 60_000, false);
    assertThat(words(new LockRequest.Acquire(ONE, "id", 12, 30_000, entry), Script.ACQUIRE))
        .containsExactly(
            "2",
            "redlock:{a}",
            "redlock:{a}:fence",
            "id",
            "12",
            "30000",
            "120000",
            "redlock:{a}:1:queue",
            "p\u00e9",
            "7",
            "5000");
  }

  @Test
  void enqueue_declaresTheTurnKeys_andWithSeveralNamesTheLockKeysToo() {
    LockRequest.QueueEntry entry = new LockRequest.QueueEntry("p", 7, 5_000, 60_000, false);
    assertThat(words(new LockRequest.Enqueue(ONE, entry, 11), Script.ENQUEUE))
        .containsExactly(
            "2",
            "redlock:{a}:1:wake:p",
            "redlock:{a}:1:watch:p",
            "p",
            "7",
            "5000",
            "11",
            "120000",
            "redlock:{a}:1:queue",
            "60000",
            "redlock:{a}",
            "redlock:{a}:fence");
    assertThat(words(new LockRequest.Enqueue(TWO, entry, 0), Script.ENQUEUE))
        .containsExactly(
            "4",
            TWO.wakeKey("p"),
            TWO.watchKey("p"),
            TWO.lockKey(0),
            TWO.lockKey(1),
            "p",
            "7",
            "5000",
            "0",
            "120000",
            TWO.queueKey(),
            "60000",
            TWO.lockKey(0),
            TWO.lockKey(0) + ":fence",
            TWO.lockKey(1),
            TWO.lockKey(1) + ":fence");
  }

  @Test
  void severalNames_haveAQueueOfTheirOwn_whichAcquireAndReleaseName() {
    assertThat(words(new LockRequest.Acquire(TWO, "id", 12, 30_000, null), Script.ACQUIRE))
        .endsWith("id", "12", "30000", "120000", TWO.queueKey());
    assertThat(words(new LockRequest.Release(TWO, "id", 12, true, 0, null), Script.RELEASE))
        .endsWith("id", "12", "120000", "1", "0", "", "", TWO.queueKey());
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
            "2", "redlock:{a}", "redlock:{a}:fence", "id", "12", "120000", "0", "300", "p");
    assertThat(words(new LockRequest.Break(ONE, 12), Script.BREAK))
        .containsExactly("2", "redlock:{a}", "redlock:{a}:fence", "12", "120000");
    assertThat(words(new LockRequest.Inspect(ONE, true), Script.INSPECT))
        .containsExactly("2", "redlock:{a}", "redlock:{a}:fence");
  }

  @Test
  void keyNames_areThoseOfTheScript() {
    EncodedRequest encoded = encoded(new LockRequest.Inspect(TWO, true));
    assertThat(encoded.keyName(1)).isEqualTo(TWO.lockKey(0));
    assertThat(encoded.keyName(2)).isEqualTo(TWO.lockKey(0) + ":fence");
    assertThat(encoded.keyName(3)).isEqualTo(TWO.lockKey(1));
    assertThat(encoded.keyName(5)).isEqualTo(TWO.queueKey());
  }

  @Test
  void of_sameRequestForAnotherNode_isNotEncodedAgain() {
    LockRequest request = new LockRequest.Acquire(ONE, "id", 12, 30_000, null);
    assertThat(encoded(request)).isSameAs(encoded(request));
  }

  @Test
  void of_anotherRequestOrDeployment_isEncodedForItself() {
    LockRequest request = new LockRequest.Extend(ONE, "id", 12, 30_000);
    LockRequest other = new LockRequest.Extend(ONE, "id", 12, 60_000);
    assertThat(words(request, Script.EXTEND)).contains("30000");
    assertThat(words(other, Script.EXTEND)).contains("60000");
    assertThat(EncodedRequest.of(request, 7)).isNotSameAs(EncodedRequest.of(request, 8));
    EncodedRequest publishing = EncodedRequest.of(request, 7, "PUBLISH");
    assertThat(EncodedRequest.of(request, 7)).isNotSameAs(publishing);
  }

  @Test
  void fenceLife_isLongerThanAnyLeaseAndWindow() {
    assertThat(EncodedRequest.fenceLifeMillis(30_000)).isEqualTo(120_000);
  }

  @Test
  void step_declaresTheOneKeyOfItsScript_andRejectsOtherScripts() {
    LockRequest request = new LockRequest.Acquire(TWO, "id", 12, 30_000, null);
    EncodedRequest lock = EncodedRequest.step(Script.LOCK_KEY, request, 1, "take", "id");
    assertThat(words(lock.eval(), Script.LOCK_KEY, "EVAL"))
        .containsExactly("1", TWO.lockKey(1), "take", "id");
    assertThat(lock.keyCount()).isEqualTo(1);
    assertThat(lock.keyName(1)).isEqualTo(TWO.lockKey(1));
    EncodedRequest fence = EncodedRequest.step(Script.FENCE_KEY, request, 0, "raise", "12");
    assertThat(words(fence.eval(), Script.FENCE_KEY, "EVAL"))
        .containsExactly("1", TWO.lockKey(0) + ":fence", "raise", "12");
    assertThatThrownBy(() -> EncodedRequest.step(Script.ACQUIRE, request, 0))
        .hasMessageContaining("ACQUIRE");
  }
}
