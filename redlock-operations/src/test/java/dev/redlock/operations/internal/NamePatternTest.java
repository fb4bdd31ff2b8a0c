package dev.redlock.operations.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Patterns match whole names, character by character. */
class NamePatternTest {

  @ParameterizedTest
  @CsvSource({
    "*,a,true", "a*c,abbc,true", "a*c,abbd,false", "a?c,abc,true", "a?c,ac,false",
    "[ab],a,false", "[ab],[ab],true", "a**b,ab,true", "*?,a,true", "??,a,false",
    "\\*,*,true", "\\*,a,false", "\\,\\,true", "a\\,a\\,true", "\\?,?,true",
  })
  void pattern_matchesTheWholeName(String pattern, String name, boolean matches) {
    assertThat(new NamePattern(pattern).matches(name)).isEqualTo(matches);
  }

  @Test
  void questionMark_isOneCharacter_alsoOutsideTheBasicPlane() {
    assertThat(new NamePattern("lock-?").matches("lock-\ud83d\ude00")).isTrue();
    assertThat(new NamePattern("lock-??").matches("lock-\ud83d\ude00")).isFalse();
    assertThat(new NamePattern("*??").matches("\ud83d\ude00")).isFalse();
    assertThat(new NamePattern("*??").matches("a\ud83d\ude00")).isTrue();
    assertThat(new NamePattern("\ud83d\ude00*").matches("\ud83d\ude00x")).isTrue();
  }

  @Test
  void emptyPattern_matchesNoName() {
    assertThat(new NamePattern("").matches("a")).isFalse();
  }
}
