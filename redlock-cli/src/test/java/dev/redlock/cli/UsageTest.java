package dev.redlock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.AccessDeniedException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class UsageTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense",
        "run",
        "run a",
        "run a --",
        "run a sleep 10",
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
      })
  void wrongCommandLine_is64(String line) {
    String[] args = line.isEmpty() ? new String[0] : line.split(" ");
    assertThat(Main.run(args)).isEqualTo(ExitCode.USAGE);
  }

  /** As the start script passes the words before the two dashes on. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "run",
        "run",
        "run -w 5 minutes a",
        "run --nodes redis://h:1 --cap 2s a",
        "run a\uFFFD",
        "run --nonsense a",
        "run -w soon a",
        "run -n -w 1s a",
        "run -E 256 a",
        "run --nodes redis://user:secret@h:1 a",
        "run --nodes redis://h:99999 a",
        "run --nodes h:6379 a",
        "run --nodes redis://h:1 --nodes-file x a",
        "run --nodes redis://127.0.0.1:1 --password-file /nonexistent a",
        "run --nodes redis://127.0.0.1:1 --lease 1h a",
        "run --nodes redis://127.0.0.1:1 --lease 499ms a",
        "run --nodes redis://127.0.0.1:1 --lease 2s --grace 667ms a"
      })
  void wrongCommandLine_ofAKeeper_is64(String line) {
    System.setProperty("redlock.child", String.valueOf(ProcessHandle.current().pid()));
    try {
      assertThat(Main.run(line.split(" "))).isEqualTo(ExitCode.USAGE);
    } finally {
      System.clearProperty("redlock.child");
    }
  }

  @Test
  void messageOfTheLibrary_namesOptionsOfTheCommand() {
    PrintStream err = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, UTF_8));
    try {
      Main.failed(Failure.usage("leaseTime 1 h is longer than maxLeaseTime 30 s"));
    } finally {
      System.setErr(err);
    }
    assertThat(said.toString(UTF_8))
        .isEqualTo("redlock: --lease 1 h is longer than --max-lease-time 30 s\n");
    assertThat(Failure.withoutJava("still connecting for the first time; awaitReady waits for it"))
        .isEqualTo("still connecting for the first time");
    assertThat(NodeOptions.why(new AccessDeniedException("/file"))).isEqualTo("permission denied");
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
    assertThatThrownBy(() -> TimeSpan.parse(text)).isInstanceOf(TypeConversionException.class);
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
