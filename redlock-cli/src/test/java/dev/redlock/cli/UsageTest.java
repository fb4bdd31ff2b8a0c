package dev.redlock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UsageTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense",
        "run",
        "run a",
        "run -- true",
        "run a --",
        "run a sleep 10",
        "run -w 5 minutes a -- true",
        "run --nodes redis://h:1 --cap 2s a -- true",
        "run a\uFFFD -- true",
        "status",
        "unlock a",
        "serve --nodes redis://127.0.0.1:1 --port 99999",
        "watch --nodes redis://127.0.0.1:1 --until NEVER a",
        "nodes nonsense",
        "nodes add --nodes redis://127.0.0.1:1",
        "nodes add --nodes redis://127.0.0.1:1 redis://127.0.0.1:2",
        "nodes add --nodes redis://127.0.0.1:1 user:secret@127.0.0.1:2",
        "nodes add --nodes redis://127.0.0.1:1 host:0",
        "nodes remove --nodes redis://127.0.0.1:1",
        "nodes replace --nodes redis://127.0.0.1:1 127.0.0.1:1",
        "run --nonsense a -- true",
        "run -w soon a -- true",
        "run -n -w 1s a -- true",
        "run -E 256 a -- true",
        "run --nodes redis://user:secret@h:1 a -- true",
        "run --nodes redis://h:99999 a -- true",
        "run --nodes h:6379 a -- true",
        "run --nodes redis://h:1 --nodes-file x a -- true",
        "run --nodes redis://127.0.0.1:1 --password-file /nonexistent a -- true",
        "run --nodes redis://127.0.0.1:1 --lease 1h a -- true",
        "run --nodes redis://127.0.0.1:1 --lease 2s --grace 2s a -- true"
      })
  void wrongCommandLine_is64(String line) {
    String[] args = line.isEmpty() ? new String[0] : line.split(" ");
    assertThat(Main.run(args)).isEqualTo(ExitCode.USAGE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--help",
        "--version",
        "run --help",
        "nodes add --help",
        "completion",
        "help",
        "help run",
        "help nodes replace"
      })
  void help_isZero(String line) {
    assertThat(Main.run(line.split(" "))).isZero();
  }

  @Test
  void nameThatIsEmpty_is64() {
    assertThat(Main.run("inspect", "--nodes", "redis://127.0.0.1:1", "")).isEqualTo(ExitCode.USAGE);
  }

  @ParameterizedTest
  @CsvSource({"500ms,500", "30s,30000", "30,30000", "1.5s,1500", "2m,120000", "1h,3600000"})
  void time_inItsForms_isRead(String text, long millis) {
    assertThat(TimeSpan.parse(text)).isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "s", "-1s", "1d", "1e9", "soon", "999999999h"})
  void time_inAnotherForm_isRejected(String text) {
    assertThatThrownBy(() -> TimeSpan.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void password_ofAFile_isPutIntoTheUriEncoded() {
    assertThat(NodeOptions.withLogin("redis://h:1", null, "a@b c"))
        .isEqualTo("redis://:a%40b%20c@h:1");
    assertThat(NodeOptions.withLogin("redis://h:1", "u", "p")).isEqualTo("redis://u:p@h:1");
    assertThat(NodeOptions.withLogin("redis://u@h:1", null, "p")).isEqualTo("redis://u:p@h:1");
    assertThat(NodeOptions.withLogin("redis://u:q@h:1", "v", "p")).isEqualTo("redis://u:q@h:1");
  }
}
