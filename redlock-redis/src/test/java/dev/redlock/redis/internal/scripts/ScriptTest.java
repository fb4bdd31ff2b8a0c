package dev.redlock.redis.internal.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ScriptTest {
  @Test
  void text_hasNoComments() {
    for (Script script : Script.values()) {
      assertThat(textOf(script))
          .as(script.name())
          .doesNotContain("--", "\n\n")
          .contains("redis.call")
          .doesNotStartWith("\n");
    }
    assertThat(Script.values()).extracting(Script::bit).doesNotHaveDuplicates();
  }

  @Test
  void hash_isThatOfTheText() throws NoSuchAlgorithmException {
    for (Script script : Script.LOADED) {
      assertThat(new String(script.sha(), UTF_8))
          .as("write the expected hash into Script.%s", script)
          .isEqualTo(
              HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(script.text())));
    }
  }

  @Test
  void hash_ofAScriptThatIsSentAsText_isRefused() {
    Set<Script> others = new HashSet<>(List.of(Script.values()));
    Script.LOADED.forEach(others::remove);
    assertThat(others).hasSize(6);
    for (Script script : others) {
      assertThatThrownBy(script::sha).hasMessage(script + " is sent as text");
    }
  }

  private static String textOf(Script script) {
    return new String(script.text(), UTF_8);
  }
}
