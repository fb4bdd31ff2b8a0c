package dev.redlock.redis.internal.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RespWriterTest {
  private static String framed(Consumer<RespWriter> words) {
    RespWriter out = new RespWriter();
    words.accept(out);
    out.begin();
    words.accept(out);
    return new String(out.end(), UTF_8);
  }

  @Test
  void words_ofEveryKind_areWrittenWithTheirLength() {
    assertThat(framed(f -> f.word("abc").word(new byte[] {'x'}).word(1764000000123456L).word("")))
        .isEqualTo("*4\r\n$3\r\nabc\r\n$1\r\nx\r\n$16\r\n1764000000123456\r\n$0\r\n\r\n");
  }

  @Test
  void word_beyondAscii_hasTheLengthOfItsBytes() {
    assertThat(framed(f -> f.word("p\u00e9\u20ac"))).isEqualTo("*1\r\n$6\r\np\u00e9\u20ac\r\n");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 9, 10, 99, 100, 12_345, Long.MAX_VALUE, -1, -9, -10, -4711})
  void number_ofAnySize_isWrittenAsJavaPrintsIt(long number) {
    String text = Long.toString(number);

    assertThat(framed(f -> f.word(number)))
        .isEqualTo("*1\r\n$" + text.length() + "\r\n" + text + "\r\n");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 9, 10, 11, 99, 100, 513})
  void frame_ofManyOrLongWords_hasTheRightHeaders(int size) {
    String word = "k".repeat(size);

    String out = framed(f -> List.of(word.split("", -1)).forEach(f::word));
    assertThat(out).startsWith("*" + (size + 1) + "\r\n$1\r\nk\r\n");
    assertThat(framed(f -> f.word(word))).isEqualTo("*1\r\n$" + size + "\r\n" + word + "\r\n");
  }

  @Test
  void end_ofOtherWordsThanWereCounted_fails() {
    RespWriter out = new RespWriter();
    out.word("abc");
    out.begin();
    out.word("ab");

    assertThatThrownBy(out::end).isInstanceOf(IllegalStateException.class);
  }
}
