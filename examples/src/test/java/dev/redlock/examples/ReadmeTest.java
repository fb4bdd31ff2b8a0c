package dev.redlock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The README names what exists, and nothing else; so do the documents with the tests they name. */
class ReadmeTest {
  private static final Path ROOT = root();
  private static final Path SNIPPETS =
      ROOT.resolve("examples/src/main/java/dev/redlock/examples/QuickStart.java");
  private static final Pattern QUOTED =
      Pattern.compile("<!-- snippet: (\\S+) -->\n```java\n(.*?)```\n", Pattern.DOTALL);
  private static final Pattern MARKED =
      Pattern.compile(" *// readme: (\\S+)\n(.*?) *// readme\\.\n", Pattern.DOTALL);

  @Test
  void snippets_areCompiledLinesWordForWord() throws IOException {
    String readme = readme();
    List<String> compiled = matches(MARKED, Files.readString(SNIPPETS));
    List<String> quoted = matches(QUOTED, readme);

    assertThat(quoted).isNotEmpty().containsExactlyElementsOf(compiled);
    assertThat(readme.split("```java", -1)).as("all Java is marked").hasSize(quoted.size() + 1);
  }

  @Test
  void snippetsOfTheTutorial_areLinesOfTheProgramsWordForWord() throws IOException {
    Pattern marked =
        Pattern.compile(" *// tutorial: (\\S+)\n(.*?) *// tutorial\\.\n", Pattern.DOTALL);
    Set<String> compiled = new TreeSet<>();
    try (Stream<Path> files = Files.list(SNIPPETS.resolveSibling("tutorial"))) {
      for (Path file : files.toList()) {
        compiled.addAll(matches(marked, Files.readString(file)));
      }
    }
    assertThat(matches(QUOTED, Files.readString(ROOT.resolve("docs/tutorial.md"))))
        .hasSize(5)
        .containsExactlyInAnyOrderElementsOf(compiled);
  }

  @Test
  void tests_namedInTheDocuments_exist() throws IOException {
    Set<String> there;
    try (Stream<Path> files = Files.walk(ROOT)) {
      there =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.matches(".*\\.(java|kt)"))
              .map(name -> name.replaceFirst("\\..*", ""))
              .collect(Collectors.toSet());
    }
    Set<String> named = new TreeSet<>();
    try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
      for (Path page : files.filter(file -> file.toString().endsWith(".md")).toList()) {
        Pattern.compile("`([A-Z]\\w*[a-z](?:IT|Test))`")
            .matcher(Files.readString(page))
            .results()
            .forEach(match -> named.add(match.group(1)));
      }
    }

    assertThat(named).hasSizeGreaterThan(20);
    assertThat(there).containsAll(named);
  }

  @Test
  void modules_areThoseOfTheBuild_othersMarkedPlanned() throws IOException {
    List<String> built =
        Pattern.compile("<module>(.*?)</module>")
            .matcher(Files.readString(ROOT.resolve("pom.xml")))
            .results()
            .map(match -> match.group(1).replaceFirst("^(integrations|verification)/", "redlock-"))
            .toList();
    String architecture = Files.readString(ROOT.resolve("docs/architecture.md"));
    String table =
        section(readme(), "## Modules")
            + section(architecture, "### Modules that are not published");
    List<String> listed = new ArrayList<>();
    List<String> planned = new ArrayList<>();
    for (MatchResult row :
        Pattern.compile("(?m)^\\| `(.*?)` \\| (planned: )?").matcher(table).results().toList()) {
      (row.group(2) == null ? listed : planned).add(row.group(1));
    }

    assertThat(listed).containsExactlyInAnyOrderElementsOf(built);
    assertThat(planned).doesNotContainAnyElementsOf(built);
  }

  /** Name and text of each match, the text without its common indentation. */
  private static List<String> matches(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map(match -> match.group(1) + "\n" + match.group(2).stripTrailing().stripIndent())
        .toList();
  }

  private static String section(String readme, String heading) {
    int start = readme.indexOf("\n" + heading + "\n");
    assertThat(start).as(heading).isNotNegative();
    return readme.substring(start, readme.indexOf("\n## ", start + 1));
  }

  private static String readme() throws IOException {
    return Files.readString(ROOT.resolve("README.md"));
  }

  private static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.isDirectory(folder.resolve(".mvn"))) {
      folder = folder.getParent();
    }
    assertThat(folder).as("a folder with .mvn in it, above the working directory").isNotNull();
    return folder;
  }
}
