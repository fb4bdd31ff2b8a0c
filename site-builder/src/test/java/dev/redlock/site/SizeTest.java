package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The limits of {@code bin/size.limits} hold, and {@code bin/size} counts as it says. */
class SizeTest {
  private static final String LIMITS = "bin/size.limits";

  /** A repository of one module. */
  @TempDir private Path folder;

  @BeforeEach
  void makeRepository() throws IOException {
    for (String script : new String[] {"bin/size", "bin/lib.sh"}) {
      write(script, Files.readString(Repository.ROOT.resolve(script)));
    }
    write("pom.xml", "<module>one</module>");
    write("one/pom.xml", "<artifactId>one</artifactId><unpublished>false</unpublished>");
    write(LIMITS, "");
  }

  @Test
  void code_ofThisRepository_isWithinItsLimits() throws Exception {
    Repository.Run run = Repository.run(Repository.ROOT, "bash", "bin/size");

    assertThat(run.output().lines().filter(line -> line.contains(" lines of code, "))).isEmpty();
    assertThat(run.status()).as(run.output()).isZero();
  }

  @Test
  void count_hasNoCommentsBlankLinesImportsAndPackages() throws Exception {
    write(
        "one/src/main/java/a/b/Code.java",
        String.join(
            "\n",
            "package a.b;",
            "",
            "import java.util.List;",
            "/** A comment",
            " * of three lines, with \"\"\" and \" in it.",
            " */",
            "class Code { // 1",
            "  // None.",
            "  /* before */ String link = \"http://a/*b\"; // 2",
            "  char quote = '\"', apostrophe = '\\''; /* 3, begins",
            "  and ends */ int after; // 4",
            "  String text = \"\"\"", // 5
            "      // 6",
            "",
            "      import \\\"\"\" /* 7",
            "      \"\"\"; // 8",
            "  /* None. */ // None.",
            "}")); // 9
    write("one/src/test/java/a/b/CodeTest.java", "class CodeTest {}\n");
    write("one/src/main/resources/script.lua", "-- None.\nreturn 1\n");

    assertThat(size().output())
        .containsPattern("(?m)^ +9 +- one$")
        .containsPattern("(?m)^ +9 +- one/a.b$")
        .containsPattern("(?m)^ +9 +- published$")
        .containsPattern("(?m)^ +1 +- one/test$")
        .containsPattern("(?m)^ +10 +- all$")
        .containsPattern("(?m)^ +1 +- lua$");
  }

  @Test
  void countAboveItsLimit_orWithoutOne_failsAndIsNamed() throws Exception {
    write("one/src/main/java/a/Code.java", "class Code {\n}\n");
    write(LIMITS, "1 one\n2 published\n2 all\n9999 shell\n");

    Repository.Run run = size();

    assertThat(run.status()).isEqualTo(1);
    assertThat(run.output())
        .contains("size: one: 2 lines of code, limit 1\n")
        .contains("size: one/a: 2 lines of code, and no limit in bin/size.limits\n")
        .doesNotContain("size: published: ", "size: shell: ");
  }

  @Test
  void lower_raisesNoLimit() throws Exception {
    write("one/src/main/java/a/Code.java", "class Code {\n}\n");
    write(LIMITS, "# A comment.\n1 one\n9 one/a\n5 gone\n");

    assertThat(size("--lower").status()).isEqualTo(1);

    assertThat(Files.readString(folder.resolve(LIMITS)))
        .isEqualTo("# A comment.\n     1 one\n     2 one/a\n");
  }

  private Repository.Run size(String... options) throws Exception {
    String[] command = new String[options.length + 2];
    command[0] = "bash";
    command[1] = "bin/size";
    System.arraycopy(options, 0, command, 2, options.length);
    return Repository.run(folder, command);
  }

  private void write(String file, String text) throws IOException {
    Path path = folder.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }
}
