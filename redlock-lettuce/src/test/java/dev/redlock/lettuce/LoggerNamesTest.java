package dev.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Operators set levels by the names of loggers, so these must not change with the inside. */
class LoggerNamesTest {
  /** A class of the same package, or the name of a class. */
  private static final Pattern LOGGER =
      Pattern.compile("getLogger\\((?:(\\w+)\\.class|\"([\\w.]+)\")\\)");

  @Test
  void loggers_ofAllModules_areNamedAfterExportedTypes() throws IOException {
    List<Path> sources;
    try (Stream<Path> files = Files.walk(Path.of(".."))) {
      sources =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .filter(file -> file.toString().contains("/src/main/java/dev/redlock/"))
              .filter(file -> !file.startsWith("../verification")) // Not for operators.
              .toList();
    }
    assertThat(sources).as("sources of the project").hasSizeGreaterThan(100);
    for (Path source : sources) {
      Matcher logger = LOGGER.matcher(Files.readString(source));
      while (logger.find()) {
        String type =
            logger.group(1) == null
                ? logger.group(2).replace('.', '/') + ".java"
                : source.resolveSibling(logger.group(1) + ".java").toString();
        assertThat(type).as("%s in %s", logger.group(), source).doesNotContain("/internal/");
        assertThat(sources).as(type).anyMatch(file -> file.endsWith(type));
      }
    }
  }
}
