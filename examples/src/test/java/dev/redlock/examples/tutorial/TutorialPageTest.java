package dev.redlock.examples.tutorial;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The code of docs/tutorial.md is that of the programs. */
class TutorialPageTest {
  private static final Pattern QUOTED =
      Pattern.compile("<!-- snippet: (\\S+) -->\n```java\n(.*?)```\n", Pattern.DOTALL);
  private static final Pattern MARKED =
      Pattern.compile(" *// tutorial: (\\S+)\n(.*?) *// tutorial\\.\n", Pattern.DOTALL);

  @Test
  void snippets_areLinesOfTheProgramsWordForWord() throws IOException {
    Path root = Path.of("").toAbsolutePath();
    while (root != null && !Files.isDirectory(root.resolve(".mvn"))) {
      root = root.getParent();
    }
    assertThat(root).isNotNull();
    Set<String> compiled = new TreeSet<>();
    try (Stream<Path> files =
        Files.list(root.resolve("examples/src/main/java/dev/redlock/examples/tutorial"))) {
      for (Path file : files.toList()) {
        compiled.addAll(matches(MARKED, Files.readString(file)));
      }
    }

    List<String> quoted = matches(QUOTED, Files.readString(root.resolve("docs/tutorial.md")));
    assertThat(quoted).hasSize(5).containsExactlyInAnyOrderElementsOf(compiled);
  }

  private static List<String> matches(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map(match -> match.group(1) + "\n" + match.group(2).stripTrailing().stripIndent())
        .toList();
  }
}
