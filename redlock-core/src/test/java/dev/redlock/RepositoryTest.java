package dev.redlock;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Rules for all files of the repository, of any kind. */
class RepositoryTest {
  /** Composed of two parts, so that this file does not contain them either. */
  private static final List<String> REGISTRIES =
      List.of(
          "repo." + "maven.apache.org",
          "repo1." + "maven.org",
          "oss." + "sonatype.org",
          "registry." + "npmjs.org",
          "deb." + "debian.org",
          "security." + "debian.org");

  private static final Set<String> NOT_OURS =
      Set.of(".git", ".idea", ".vscode", ".settings", ".m2", "target", "node_modules");

  /** The builder chooses where packages come from (mirrors, air gaps). */
  @Test
  void files_ofTheWholeRepository_nameNoPackageRegistry() throws IOException {
    List<String> found = new ArrayList<>();
    List<Path> files = files(root());
    for (Path file : files) {
      String text = Files.readString(file, ISO_8859_1);
      REGISTRIES.stream().filter(text::contains).forEach(name -> found.add(file + ": " + name));
    }
    assertThat(files).as("files checked").hasSizeGreaterThan(10);
    assertThat(found).isEmpty();
  }

  private static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(folder.resolve(".mvn"))) {
      folder = folder.getParent();
      assertThat(folder).as("a folder with .mvn in it, above the working directory").isNotNull();
    }
    return folder;
  }

  private static List<Path> files(Path root) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return NOT_OURS.contains(folder.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (attributes.isRegularFile() && !file.endsWith(".flattened-pom.xml")) {
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }
}
