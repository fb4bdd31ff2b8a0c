package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A module says in its own pom that it is published. A list that is kept by hand beside the poms
 * misses the next module, and nothing fails: a script then tests a jar of last week.
 */
class ModulesTest {
  private static final Pattern DEPENDENCY =
      Pattern.compile("<groupId>([^<]*)</groupId>\\s*<artifactId>(redlock-[^<]*)</artifactId>");

  @Test
  void bom_hasThePublishedModules() throws Exception {
    assertThat(published()).contains("redlock-core", "redlock-kotlin");
    assertThat(dependencies("redlock-bom/pom.xml").map(found -> found.group(2)))
        .filteredOn(name -> !name.equals("redlock-parent"))
        .containsExactlyInAnyOrderElementsOf(published());
  }

  @Test
  void buildOfThePublishedModules_hasAllOfThem() throws Exception {
    String pom = Files.readString(Repository.ROOT.resolve("pom.xml"));
    String always = pom.substring(0, pom.indexOf("</modules>"));
    assertThat(
            lib("modules \"$root\"").filter(row -> row.split(" ", -1)[2].matches("published|bom")))
        .isNotEmpty()
        .allMatch(row -> always.contains("<module>" + row.split(" ", -1)[1] + "</module>"));
  }

  /** With another group, as for a release under a name that GitHub gives, it would not resolve. */
  @Test
  void poms_nameTheGroupByItsProperty() throws IOException {
    for (Path pom : files("{pom.xml,**/pom.xml}")) {
      assertThat(dependencies(pom.toString()).map(found -> found.group(1)))
          .as(pom.toString())
          .containsOnly("${redlock.group}");
    }
  }

  @Test
  void scripts_haveNoListOfModules() throws Exception {
    Pattern module = Pattern.compile("\\b(" + String.join("|", published()) + ")\\b");
    List<Path> scripts = new ArrayList<>(files("{bin,.mvn,.ci}/*"));
    scripts.add(Path.of("demo"));
    assertThat(scripts).hasSizeGreaterThan(15);

    for (Path script : scripts) {
      assertThat(Files.readAllLines(Repository.ROOT.resolve(script)))
          .as(script.toString())
          .noneMatch(line -> module.matcher(line).results().count() > 1);
    }
  }

  private static List<String> published() throws Exception {
    return lib("published \"$root\"").toList();
  }

  /** The lines of a function of bin/lib.sh, which all scripts use. */
  private static Stream<String> lib(String call) throws Exception {
    Repository.Run run = Repository.run(Repository.ROOT, "bash", "-c", ". bin/lib.sh && " + call);
    assertThat(run.status()).as(run.output()).isZero();
    return run.output().lines();
  }

  private static Stream<MatchResult> dependencies(String pom) throws IOException {
    return DEPENDENCY.matcher(Files.readString(Repository.ROOT.resolve(pom))).results();
  }

  private static List<Path> files(String glob) throws IOException {
    var matcher = Repository.ROOT.getFileSystem().getPathMatcher("glob:" + glob);
    try (Stream<Path> files = Files.walk(Repository.ROOT, 3)) {
      return files
          .filter(Files::isRegularFile)
          .map(Repository.ROOT::relativize)
          .filter(matcher::matches)
          .toList();
    }
  }
}
