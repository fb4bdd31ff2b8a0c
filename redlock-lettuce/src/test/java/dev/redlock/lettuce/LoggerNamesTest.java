package dev.redlock.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Operators set levels by the names of loggers, so these must not change with the inside. */
class LoggerNamesTest {
  private static final Pattern LOGGER = Pattern.compile("getLogger\\((\\w+)\\.class\\)");

  @Test
  void loggers_ofAllModules_areNamedAfterExportedTypes() throws IOException {
    List<Path> sources;
    try (Stream<Path> files = Files.walk(Path.of(".."))) {
      sources =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .filter(file -> file.toString().contains("/src/main/java/dev/redlock/"))
              .toList();
    }
    assertThat(sources).as("sources of the project").hasSizeGreaterThan(100);
    assertThat(sources.stream().filter(LoggerNamesTest::namesAnInternalLogger)).isEmpty();
  }

  private static boolean namesAnInternalLogger(Path source) {
    String text;
    try {
      text = Files.readString(source, UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Matcher logger = LOGGER.matcher(text);
    while (logger.find()) {
      String type = logger.group(1);
      boolean neighbour = Files.exists(source.resolveSibling(type + ".java"));
      if (neighbour
          ? source.toString().contains("/internal/")
          : text.matches("(?s).*import [\\w.]*\\.internal\\.[\\w.]*\\b" + type + ";.*")) {
        return true;
      }
    }
    return false;
  }
}
