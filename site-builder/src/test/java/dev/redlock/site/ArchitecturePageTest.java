package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The map of the code names types that exist. */
class ArchitecturePageTest {
  private static final Pattern TYPE = Pattern.compile("`([A-Z]\\w+)`");
  private static final Pattern LABEL = Pattern.compile("<text class=\"m\"[^>]*>([A-Z]\\w+)[<:]");

  @Test
  void typesOfPageAndPicture_exist() throws IOException {
    Set<String> types = types();

    assertThat(matches(TYPE, page("architecture.md"))).isNotEmpty().isSubsetOf(types);
    assertThat(matches(LABEL, page("architecture.svg"))).isNotEmpty().isSubsetOf(types);
  }

  private static Set<String> matches(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map(match -> match.group(1))
        .filter(name -> !name.equals(name.toUpperCase(Locale.ROOT)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String page(String name) throws IOException {
    return Files.readString(Repository.ROOT.resolve("docs").resolve(name));
  }

  /** The names of all source files. */
  private static Set<String> types() throws IOException {
    try (Stream<Path> files = Files.walk(Repository.ROOT)) {
      List<String> names = files.map(file -> file.getFileName().toString()).toList();
      return names.stream()
          .filter(name -> name.matches("\\w+\\.(java|kt)"))
          .map(name -> name.replaceFirst("\\..*", ""))
          .collect(Collectors.toSet());
    }
  }
}
