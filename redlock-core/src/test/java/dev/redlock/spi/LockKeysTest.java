package dev.redlock.spi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a name holds, its keys are its own, in its own slot. */
class LockKeysTest {
  private static final int LONGEST = 5;

  /** What names may be made of that means something in a key, and something that does not. */
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
    assertThat(of(name).lineKeyBytes(0)).isEqualTo((key + ":line").getBytes(UTF_8));
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
      for (byte[] key :
          List.of(keys.lockKeyBytes(0), keys.fenceKeyBytes(0), keys.lineKeyBytes(0))) {
        String text = new String(key, UTF_8);
        String before = owners.put(text, name);
        assertThat(before).as(text + " is of " + name + " and of").isNull();
        assertThat(tagAsRedisReadsIt(text)).as("tag of " + text).isEqualTo(tag);
      }
    }
    assertThat(owners).hasSize(3 * allNames().size());
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
    // What a careless suffix would take for the other keys of a name.
    all.addAll(List.of("a:fence", "a:line", "{a}:fence", "a}:fence", "{a}:line", "%node"));
    return all;
  }

  /** The first non-empty text between the first brace and the next that closes; else the whole. */
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
}
