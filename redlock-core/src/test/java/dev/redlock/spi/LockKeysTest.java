package dev.redlock.spi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.FencingToken;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockQueueFullException;
import dev.redlock.LockTimeoutException;
import dev.redlock.RedlockInterruptedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The keys of a name belong to no other name and lie in one slot, for any text. */
class LockKeysTest {
  private static final int LONGEST = 5;

  /** Parts of names: some have a meaning in a key, some have none. */
  private static final char[] SIGNS = {'{', '}', '%', ':', '\n', '7', 'B', 'a'};

  private static LockKeys of(String... names) {
    return LockKeys.of("redlock", List.of(names));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "orders            | redlock:{orders}",
        "a:b               | redlock:{a:b}",
        "größe             | redlock:{größe}",
        "buy_{42}          | redlock:{42}:buy_{}",
        "{42}              | redlock:{42}:{}",
        "a:{42}:b          | redlock:{42}:a%3A{}%3Ab",
        "{a:b}             | redlock:{a:b}:{}",
        "{}                | redlock:{%7B%7D}",
        "a{}b              | redlock:{a%7B%7Db}",
        "a}b{c             | redlock:{a%7Db%7Bc}",
        "{a}{b}            | redlock:{%7Ba%7D%7Bb%7D}",
        "{{a}}             | redlock:{%7B%7Ba%7D%7D}",
        "50%               | redlock:{50%25}",
        "%7B               | redlock:{%257B}",
      })
  void key_ofAName_isItsText(String name, String key) {
    assertThat(of(name).lockKey(0)).isEqualTo(key);
    assertThat(of(name).lockKeyBytes(0)).isEqualTo(key.getBytes(UTF_8));
    assertThat(of(name).fenceKeyBytes(0)).isEqualTo((key + ":fence").getBytes(UTF_8));
    assertThat(of(name).queueKey()).isEqualTo(key + ":1:queue");
    assertThat(of(name).wakeKey("p.1")).isEqualTo(key + ":1:wake:p.1");
    assertThat(of(name).watchKey("p.1")).isEqualTo(key + ":1:watch:p.1");
  }

  @Test
  void names_aThousand_areAccepted_andOneMoreIsRefusedWithTheNumbers() {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < LockKeys.MAX_NAMES; i++) {
      names.add("name" + i);
    }
    names.addAll(List.copyOf(names)); // Repetition does not count.
    assertThat(LockKeys.of("redlock", names).size()).isEqualTo(1_000);
    names.add("one more");
    assertThatThrownBy(() -> LockKeys.of("redlock", names))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a lock may have 1000 names, this one has 1001");
  }

  @Test
  void text_ofManyLongNames_isBounded() {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < LockKeys.MAX_NAMES; i++) {
      names.add(i + "x".repeat(500));
    }
    LockKeys keys = LockKeys.of("redlock", names);
    AcquireReport report =
        new AcquireReport(
            keys.names(),
            AcquireVerdict.HELD,
            1,
            List.of(),
            Duration.ZERO,
            1,
            Duration.ZERO,
            0,
            null);

    assertThat(keys.toString()).hasSizeLessThan(1_200).endsWith(" and 990 more]");
    assertThat(new LockTimeoutException(report))
        .message()
        .hasSizeLessThan(1_300)
        .contains(" and 990 more; waited");
    assertThat(new LockQueueFullException(report)).message().hasSizeLessThan(1_300);
    assertThat(new LeaseLostException(names, new FencingToken(1), LeaseEnd.LOST))
        .message()
        .hasSizeLessThan(1_300);
    assertThat(new RedlockInterruptedException(names)).message().hasSizeLessThan(1_300);
    assertThat(of("a", "b")).hasToString("[a, b]");
  }

  @Test
  void key_ofControlCharacters_holdsNone() {
    assertThat(of("a\0b\r\n\u001f\u007fc").lockKey(0)).isEqualTo("redlock:{a%00b%0D%0A%1F%7Fc}");
  }

  @Test
  void keys_ofAllNamesOfHostileSigns_neverCollideAndAlwaysHaveOneTag() {
    Map<String, String> owners = new HashMap<>();
    for (String name : allNames()) {
      LockKeys keys = of(name);
      String lockKey = keys.lockKey(0);
      String tag = tagAsRedisReadsIt(lockKey);
      assertThat(tag).as("tag of " + name).isNotEmpty();
      for (String text :
          List.of(
              lockKey,
              new String(keys.fenceKeyBytes(0), UTF_8),
              keys.queueKey(),
              keys.wakeKey("p"),
              keys.watchKey("p"))) {
        String before = owners.put(text, name);
        assertThat(before).as(text + " is of " + name + " and of").isNull();
        assertThat(tagAsRedisReadsIt(text)).as("tag of " + text).isEqualTo(tag);
      }
    }
    assertThat(owners).hasSize(5 * allNames().size());
  }

  @Test
  void lockKeyOf_turnKeysOfAllNames_isTheLockKey() {
    for (String name : allNames()) {
      LockKeys keys = of(name);
      String lockKey = keys.lockKey(0);
      for (String key : List.of(lockKey, keys.wakeKey("p.1f"), keys.watchKey("p.1f"))) {
        assertThat(LockKeys.lockKeyOf(key)).as(key).isEqualTo(lockKey);
      }
    }
  }

  @Test
  void queue_ofSeveralNames_isNotThatOfOneName() {
    LockKeys two = of("{t}a", "{t}b");
    assertThat(two.queueKey()).startsWith(two.lockKey(0) + ":1:queue:");
    assertThat(two.member("p")).startsWith("p.").isNotEqualTo(of("{t}a", "{t}c").member("p"));
    assertThat(of("a").member("p")).isEqualTo("p");
  }

  private static List<String> allNames() {
    List<String> all = new ArrayList<>();
    List<String> last = List.of("");
    for (int length = 1; length <= LONGEST; length++) {
      List<String> longer = new ArrayList<>();
      for (String prefix : last) {
        for (char sign : SIGNS) {
          longer.add(prefix + sign);
        }
      }
      all.addAll(longer);
      last = longer;
    }
    // Names that end like the other keys of a name.
    all.addAll(List.of("a:fence", "a:1:queue", "{a}:fence", "a}:fence", "{a}:1:queue", "%node"));
    all.addAll(
        List.of(
            "a:1:wake:p", "{a}:1:wake:p", "a:1:watch:p", "{a}:1:watch:p", "a:wake", ":1:wake:p"));
    return all;
  }

  /** The hash tag as Redis finds it; the whole key without one. */
  private static String tagAsRedisReadsIt(String key) {
    int open = key.indexOf('{');
    int close = key.indexOf('}', open + 1);
    return open < 0 || close <= open + 1 ? "" : key.substring(open + 1, close);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\ud83d", "\ude00", "a\ud83d", "\ude00\ud83d", "\ud83da"})
  void name_withAnUnpairedSurrogate_isRefused(String name) {
    assertThatThrownBy(() -> of(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("unpaired surrogate");
    assertThat(of("\ud83d\ude00").lockKey(0)).isEqualTo("redlock:{\ud83d\ude00}");
  }

  @Test
  void name_ofNoOrTooManyBytes_isRefusedWithTheNumbers() {
    assertThatThrownBy(() -> of(""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("empty");
    assertThatThrownBy(() -> LockKeys.of("redlock", List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at least one name");
    assertThat(of("x".repeat(512)).names()).hasSize(1);
    assertThat(of("é".repeat(256)).names()).hasSize(1);
    for (String tooLong : List.of("x".repeat(513), "é".repeat(256) + "x")) {
      assertThatThrownBy(() -> of(tooLong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("512")
          .hasMessageContaining("513");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a{", "}"})
  void prefix_emptyOrWithABrace_isRefused(String prefix) {
    assertThatThrownBy(() -> LockKeys.of(prefix, List.of("a")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + prefix + "'");
  }

  @Test
  void names_inAnyOrderWithDuplicates_areTheSameSet() {
    assertThat(of("b", "a", "b")).isEqualTo(of("a", "b")).hasSameHashCodeAs(of("a", "b"));
    assertThat(of("b", "a", "b").names()).containsExactly("a", "b");
    assertThat(of("a")).isNotEqualTo(of("a", "b"));
  }

  @Test
  void tagSuffixes_endTheTags_andKeepNamesAndOrder() {
    LockKeys keys = of("a", "a!", "buy_{42}").withTagSuffixes(List.of("~x", "~y", "~z"));
    assertThat(keys.names()).containsExactly("a", "a!", "buy_{42}");
    assertThat(keys.lockKey(0)).isEqualTo("redlock:{a~x}");
    assertThat(keys.lockKey(1)).isEqualTo("redlock:{a!~y}");
    assertThat(keys.lockKey(2)).isEqualTo("redlock:{42~z}:buy_{}");
    assertThat(new String(keys.fenceKeyBytes(2), UTF_8)).isEqualTo("redlock:{42~z}:buy_{}:fence");
    assertThat(keys.wakeKey("p")).isEqualTo("redlock:{a~x}:1:wake:p");
    assertThat(keys).isNotEqualTo(of("a", "a!", "buy_{42}"));
  }

  @Test
  void tagSuffixes_tooFewOrWithABrace_areRefused() {
    assertThatThrownBy(() -> of("a", "b").withTagSuffixes(List.of("x")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("2 names")
        .hasMessageContaining("got 1");
    assertThatThrownBy(() -> of("a").withTagSuffixes(List.of("x}y")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'x}y'");
  }
}
