package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Redlock;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.w3c.dom.NodeList;

/** What the documents quote in other languages than Java, and the commands that they name. */
class BlocksTest {
  /**
   * Each has a check: Java in {@code SnippetsTest}, the others here. Empty: output and commands.
   */
  private static final Set<String> CHECKED =
      Set.of("", "java", "groovy", "kotlin", "xml", "yaml", "json", "sql", "ts");

  private static final Pattern MAVEN = Pattern.compile("\\bmvn (?!verify`)[^`\n|]*");

  private static List<Block> blocks(String language) throws IOException {
    List<Block> blocks = new ArrayList<>();
    for (Path file : Repository.pages()) {
      blocks.addAll(Block.of(file.getFileName().toString(), Files.readString(file)));
    }
    return blocks.stream().filter(block -> block.language().equals(language)).toList();
  }

  private static String sources(String folder, String ending) throws IOException {
    try (Stream<Path> files = Files.walk(Repository.ROOT.resolve(folder))) {
      StringBuilder text = new StringBuilder();
      for (Path file : files.filter(name -> name.toString().endsWith(ending)).toList()) {
        text.append(Files.readString(file));
      }
      return text.toString();
    }
  }

  @Test
  void languages_ofAllBlocks_haveACheck() throws IOException {
    List<String> unchecked = new ArrayList<>();
    for (Path file : Repository.pages()) {
      Block.of(file.getFileName().toString(), Files.readString(file)).stream()
          .filter(block -> !CHECKED.contains(block.language()))
          .forEach(block -> unchecked.add(block.at() + ": " + block.language()));
    }

    assertThat(unchecked).isEmpty();
  }

  @Test
  void kotlin_ofAllPages_isCompiledAndRunByItsModule() throws IOException {
    String test =
        Files.readString(
            Repository.ROOT.resolve(
                "integrations/kotlin/src/test/kotlin/dev/redlock/kotlin/DocumentsTest.kt"));
    List<String> compiled =
        Pattern.compile(" *// document\n(.*?) *// document\n", Pattern.DOTALL)
            .matcher(test)
            .results()
            .map(match -> match.group(1).stripTrailing().stripIndent() + "\n")
            .toList();

    assertThat(blocks("kotlin").stream().map(Block::code).toList())
        .isNotEmpty()
        .containsExactlyInAnyOrderElementsOf(compiled);
  }

  /** A property that does not exist, or a value that does not fit, stops the start. */
  @Test
  void yaml_ofAllPages_startsTheClientOfTheStarter(@TempDir Path folder) throws Exception {
    assertThat(blocks("yaml")).isNotEmpty();
    for (Block block : blocks("yaml")) {
      Path file = folder.resolve("application.yaml");
      // The test must not reach a server of the example network of the page.
      Files.writeString(file, block.code().replaceAll("10\\.0\\.0\\.(\\d):6379", "127.0.0.1:$1"));

      try (ConfigurableApplicationContext context =
          new SpringApplicationBuilder(ofTheStarter("RedlockAutoConfiguration"))
              .web(WebApplicationType.NONE)
              .properties(
                  Map.of(
                      "spring.config.location", file.toUri().toString(),
                      "REDIS_PASSWORD", "secret",
                      "spring.main.banner-mode", "off"))
              .run()) {
        assertThat(context.getBean(Redlock.class).operations().nodes()).as(block.at()).hasSize(3);
        assertThat(context.getBean(ofTheStarter("RedlockProperties")))
            .as(block.at())
            .hasFieldOrPropertyWithValue("maxLeaseTime", Duration.ofSeconds(30))
            .hasFieldOrPropertyWithValue("password", "secret");
      }
    }
  }

  /** By its name: the compiler would warn of annotations whose classes are not here. */
  private static Class<?> ofTheStarter(String name) throws ClassNotFoundException {
    return Class.forName("dev.redlock.spring.boot." + name);
  }

  /** The poms of projects that a reader makes: our modules, in the version of this repository. */
  @Test
  void xml_ofAllPages_isAPomWithModulesAndTheVersionOfThisRepository() throws Exception {
    Matcher revision =
        Pattern.compile("<revision>(.*)</revision>")
            .matcher(Files.readString(Repository.ROOT.resolve("pom.xml")));
    assertThat(revision.find()).isTrue();
    assertThat(blocks("xml")).isNotEmpty();
    for (Block block : blocks("xml")) {
      NodeList dependencies =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(new ByteArrayInputStream(block.code().getBytes(StandardCharsets.UTF_8)))
              .getElementsByTagName("dependency");
      int ours = 0;
      for (int i = 0; i < dependencies.getLength(); i++) {
        String dependency = dependencies.item(i).getTextContent().replaceAll("\\s+", " ").strip();
        if (dependency.startsWith("dev.redlock ")) {
          ours++;
          String[] words = dependency.split(" ");
          assertThat(Repository.ROOT.resolve(words[1])).as(block.at()).isDirectory();
          assertThat(words.length == 2 || words[2].equals(revision.group(1)))
              .as(block.at() + ": " + dependency)
              .isTrue();
        }
      }
      assertThat(ours).as(block.at()).isPositive();
    }
  }

  @Test
  void gradle_ofAllPages_namesWhatThePomOfItsPageNames() throws IOException {
    Pattern dependency = Pattern.compile("'([\\w.]+):([\\w-]+)(?::([\\w.-]+))?'");
    assertThat(blocks("groovy")).isNotEmpty();
    for (Block block : blocks("groovy")) {
      String poms =
          blocks("xml").stream()
              .filter(other -> other.page().equals(block.page()))
              .map(other -> other.code().replaceAll("\\s", ""))
              .collect(Collectors.joining());
      List<MatchResult> named = dependency.matcher(block.code()).results().toList();
      assertThat(named).as(block.at()).hasSizeGreaterThan(2);
      for (MatchResult one : named) {
        String version = one.group(3) == null ? "" : "<version>" + one.group(3) + "</version>";
        assertThat(poms)
            .contains(
                "<groupId>%s</groupId><artifactId>%s</artifactId>%s"
                    .formatted(one.group(1), one.group(2), version));
      }
    }
  }

  @Test
  void json_ofAllPages_isJson() throws IOException {
    assertThat(blocks("json"))
        .isNotEmpty()
        .flatExtracting(block -> block.code().lines().toList())
        .allSatisfy(line -> assertThat(new JsonObject(line).getInteger("v")).isPositive());
  }

  @Test
  void sql_ofAllPages_isAStatementOfTheExamples() throws IOException {
    String examples = sources("examples/src/main/java", ".java");

    assertThat(blocks("sql"))
        .isNotEmpty()
        .allSatisfy(block -> assertThat(examples).contains("\"" + block.code().strip() + "\""));
  }

  /** The code of another library, in a language that this build has no compiler for. */
  @Test
  void typeScript_ofAllPages_isMarkedAsNotOurs() throws IOException {
    assertThat(blocks("ts"))
        .isNotEmpty()
        .allSatisfy(block -> assertThat(block.before()).contains("not compiled"));
  }

  @Test
  void mavenCommands_ofAllPages_nameModulesProfilesAndTestsThatExist() throws IOException {
    Set<String> poms = new TreeSet<>();
    Set<String> tests = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Repository.ROOT)) {
      files
          .map(file -> Repository.ROOT.relativize(file).toString())
          .filter(file -> !file.contains("target/"))
          .forEach(
              file -> {
                if (file.endsWith("/pom.xml")) {
                  poms.add(file.substring(0, file.length() - "/pom.xml".length()));
                } else if (file.matches(".*/src/test/.*\\.(java|kt)")) {
                  tests.add(file.replaceFirst(".*/", "").replaceFirst("\\..*", ""));
                }
              });
    }
    StringBuilder pom = new StringBuilder(Files.readString(Repository.ROOT.resolve("pom.xml")));
    for (String module : poms) {
      pom.append(Files.readString(Repository.ROOT.resolve(module).resolve("pom.xml")));
    }
    List<String> wrong = new ArrayList<>();
    int commands = 0;
    for (Path file : Repository.pages()) {
      for (String command :
          MAVEN.matcher(Files.readString(file)).results().map(match -> match.group()).toList()) {
        commands++;
        option(command, "-pl ")
            .filter(module -> !poms.contains(module) && !isArtifact(module, pom))
            .forEach(wrong::add);
        option(command, "-P")
            .filter(profile -> !profile.isEmpty() && pom.indexOf("<id>" + profile + "</id>") < 0)
            .forEach(wrong::add);
        Stream.concat(option(command, "-Dtest="), option(command, "-Dit.test="))
            .map(test -> test.replace("'", ""))
            .filter(test -> !test.equals("none") && !test.equals("SomeIT") && !test.contains("*"))
            .filter(test -> !tests.contains(test))
            .forEach(wrong::add);
      }
    }

    assertThat(commands).isGreaterThan(15);
    assertThat(wrong).isEmpty();
  }

  /** Maven selects a module by its folder, or by a colon and its artifact id. */
  private static boolean isArtifact(String module, StringBuilder poms) {
    return module.startsWith(":")
        && poms.indexOf("<artifactId>" + module.substring(1) + "</artifactId>") >= 0;
  }

  private static Stream<String> option(String command, String option) {
    return Stream.of((" " + command).split(" " + Pattern.quote(option)))
        .skip(1)
        .flatMap(rest -> Stream.of(rest.split("[ `)]", 2)[0].split(",")));
  }
}
