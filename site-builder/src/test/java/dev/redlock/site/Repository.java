package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The checked-out repository. */
final class Repository {
  static final Path ROOT = root();

  private Repository() {}

  /** All pages: those of the root folder, and those of docs and its folders. */
  static List<Path> pages() throws IOException {
    try (Stream<Path> root = Files.list(ROOT);
        Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
      return Stream.concat(root, docs)
          .filter(file -> file.toString().endsWith(".md"))
          .sorted()
          .toList();
    }
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
