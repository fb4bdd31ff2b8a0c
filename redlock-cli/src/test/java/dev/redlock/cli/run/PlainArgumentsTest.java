package dev.redlock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

class PlainArgumentsTest {
  private static final List<String> CHILD = List.of("pg_dump", "-n", "--", "shop");

  @Test
  void eachOption_isReadAsPicocliReadsIt() {
    List<OptionSpec> options =
        new CommandLine(new RunCommand(CHILD))
            .getCommandSpec().options().stream()
                .filter(o -> !o.usageHelp() && !o.versionHelp())
                .toList();
    assertThat(options).hasSizeGreaterThan(12);
    for (OptionSpec option : options) {
      String name = option.names()[0];
      if (option.arity().max() == 0) {
        assertSame(List.of(name, "backup"));
      } else {
        String value = value(option);
        assertSame(List.of("backup", name, value, "reports"));
        if (name.startsWith("--")) {
          assertSame(List.of(name + "=" + value, "backup"));
        }
      }
    }
  }

  @Test
  void severalOptionsAndNames_areReadAsPicocliReadsThem() {
    assertSame(List.of("-w", "10m", "-E", "0", "--lease", "1.5s", "b", "a", "-v"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-n",
        "--help",
        "a --nonsense x",
        "a --nonsense",
        "a -w",
        "a -w -n",
        "a -w soon",
        "a -E many",
        "a -E 999999999999",
        "a -n -n",
        "a -nv",
        "a -v -v",
        "a --verbose",
        "a -w=5s",
        "a --lease=",
        "a --restart-guard on"
      })
  void whatIsNotPlain_isLeftToPicocli(String line) {
    List<String> words = line.isEmpty() ? List.of() : List.of(line.split(" "));
    assertThat(PlainArguments.parse(words, CHILD)).isNull();
  }

  private static void assertSame(List<String> words) {
    RunCommand plain = PlainArguments.parse(words, CHILD);
    RunCommand parsed = new RunCommand(CHILD);
    new CommandLine(parsed).parseArgs(words.toArray(String[]::new));

    assertThat(plain).as("%s", words).isNotNull();
    assertThat(plain).as("%s", words).usingRecursiveComparison().isEqualTo(parsed);
    assertThat(plain)
        .as("%s changes something", words)
        .usingRecursiveComparison()
        .isNotEqualTo(new RunCommand(CHILD));
  }

  private static String value(OptionSpec option) {
    if (option.type().isEnum()) {
      return "OFF";
    } else if (option.type() == int.class) {
      return "3";
    } else if (option.type().getSimpleName().equals("Duration")) {
      return "7s";
    }
    return "some/text";
  }
}
