package dev.redlock.cli.look;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class JsonTest {
  @Test
  void object_withEveryKindOfValue_isOneLine() {
    Json json =
        new Json()
            .put("text", "a")
            .put("nothing", null)
            .put("number", -5)
            .put("truth", true)
            .putMillis("time", Duration.ofSeconds(2))
            .putMillis("never", null)
            .putAll("list", List.of("1", "{}"));
    assertThat(json)
        .hasToString(
            "{\"text\":\"a\",\"nothing\":null,\"number\":-5,\"truth\":true,\"timeMillis\":2000,"
                + "\"neverMillis\":null,\"list\":[1,{}]}");
  }

  @Test
  void text_withControlCharacters_isEscaped() {
    assertThat(Json.quoted("\"\\\n\u0000\u001b[31m\u2028\ud83d\ude00ü"))
        .isEqualTo("\"\\\"\\\\\\u000a\\u0000\\u001b[31m\\u2028\\ud83d\\ude00ü\"");
  }
}
