package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SiteTest {
  private static final Pattern TARGET = Pattern.compile("(?:href|src)=\"([^\"]*)\"");

  @Test
  void links_ofAllPages_leadToFilesAndAnchorsThatExist() throws IOException {
    assertThat(Site.read(Repository.ROOT).deadLinks()).isEmpty();
  }

  @Test
  void deadLinks_ofAPage_areFoundWithTheirReason(@TempDir Path folder) throws IOException {
    Files.writeString(folder.resolve("there.md"), "# There\n\n## Twice\n\n## Twice\n");
    Page page =
        Page.parse(
            "here.md",
            "[a](there.md) [b](there.md#twice-1) [c](gone.md) [d](there.md#gone)"
                + " [e](#gone) [f](https://redlock.example/) [g](there.md#twice-2)\n");
    Page there = Page.parse("there.md", Files.readString(folder.resolve("there.md")));
    Files.createFile(folder.resolve("here.md"));

    assertThat(new Links(folder, Map.of("here.md", page, "there.md", there)).dead())
        .containsExactly(
            "here.md: gone.md: there is no such file",
            "here.md: there.md#gone: no heading has this anchor",
            "here.md: #gone: no heading has this anchor",
            "here.md: there.md#twice-2: no heading has this anchor");
  }

  @Test
  void anchors_ofHeadings_areThoseOfCodeHosts() {
    assertThat(Page.anchor("From `RLock`".replace("`", ""))).isEqualTo("from-rlock");
    assertThat(Page.anchor("What is refused, and why: a list"))
        .isEqualTo("what-is-refused-and-why-a-list");
    assertThat(Page.anchor("1 – 2 & 3")).isEqualTo("1--2--3");
  }

  @Test
  void site_ofThisRepository_linksOnlyToItsOwnFilesAndLoadsNothingFromOutside(@TempDir Path out)
      throws IOException {
    int sections = Site.read(Repository.ROOT).write(out);

    List<String> broken = new ArrayList<>();
    List<String> outside = new ArrayList<>();
    try (Stream<Path> files = Files.walk(out)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".html")).toList()) {
        String html = Files.readString(file).replaceAll("(?s)<script>.*?</script>", "");
        TARGET
            .matcher(html)
            .results()
            .map(match -> match.group(1).replaceFirst("[#?].*", ""))
            .filter(target -> !target.isEmpty() && !Links.external(target))
            .filter(target -> !target.contains("javadoc/")) // bin/site adds it.
            .filter(target -> !Files.exists(file.getParent().resolve(target)))
            .forEach(target -> broken.add(out.relativize(file) + ": " + target));
        Pattern.compile("(?:src=\"|@import |url\\()[\"']?(https?:)?//")
            .matcher(html)
            .results()
            .forEach(match -> outside.add(out.relativize(file) + ": " + match.group()));
      }
    }

    assertThat(broken).isEmpty();
    assertThat(outside).isEmpty();
    assertThat(sections).isGreaterThan(150);
    assertThat(Files.readString(out.resolve("index.html")))
        .contains("src=\"docs/pictures/demo.svg\"", "src=\"highlight.js\"");
    assertThat(Files.readString(out.resolve("docs/choosing.html")))
        .contains(
            "<h3 id=\"a-lock-delay\">",
            "<table>",
            "href=\"../docs/recipes.html#a-pool-of-k-permits\"");
    assertThat(Files.readString(out.resolve("docs/decisions/waiting.html")))
        .contains(
            "<h2>Decisions</h2>",
            "href=\"../../docs/decisions/connections.html\"",
            "href=\"../../index.html\"");
    assertThat(Files.readString(out.resolve("search-index.js")))
        .contains("[\"docs/choosing.html#a-lock-delay\",");
  }

  @Test
  void drawings_ofTheDocuments_areDarkForReadersWhoWantThat() throws IOException {
    try (Stream<Path> files = Files.walk(Repository.ROOT.resolve("docs"))) {
      List<Path> drawings = files.filter(file -> file.toString().endsWith(".svg")).toList();

      assertThat(drawings).hasSizeGreaterThan(8);
      for (Path drawing : drawings) {
        assertThat(drawing).content().contains("@media (prefers-color-scheme: dark)");
      }
    }
  }

  /** A command of the documents is a file of the repository, and knows its first argument. */
  @Test
  void commands_ofTheGuides_exist() throws IOException {
    Set<String> missing = new TreeSet<>();
    for (Path file : Repository.pages()) {
      Pattern.compile("`(\\./[a-z]+|bin/[a-z]+)(?: ([a-z0-9][a-z0-9-]*))?[^`]*`")
          .matcher(Files.readString(file))
          .results()
          .forEach(
              command -> {
                Path program = Repository.ROOT.resolve(command.group(1));
                String name = command.group(2);
                if (!Files.isExecutable(program)) {
                  missing.add(file.getFileName() + ": " + command.group());
                } else if (name != null
                    && Set.of("bin/recipe", "bin/tutorial").contains(command.group(1))
                    && !contains(program, " " + name + " ")) {
                  missing.add(file.getFileName() + ": " + command.group());
                }
              });
    }

    assertThat(missing).isEmpty();
  }

  private static boolean contains(Path file, String text) {
    try {
      return Files.readAllLines(file).stream().collect(Collectors.joining(" ")).contains(text);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
