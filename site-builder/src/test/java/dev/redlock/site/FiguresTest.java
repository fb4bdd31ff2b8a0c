package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A measured figure is in a section that names the command, or the test, that shows the figure
 * again. Figures that are defined and not measured (defaults, limits, examples, and what other
 * libraries set) are listed in {@code figures-by-definition.txt}.
 */
@SuppressWarnings(
    "StringConcatToTextBlock") // The check fails with NoSuchElementException on this class.
class FiguresTest {
  private static final String NUMBER = "\\d[\\d,]*(?:\\.\\d+)?";

  /** A number, or a range, with its unit. */
  private static final Pattern FIGURE =
      Pattern.compile(
          "(?<![\\w.,])"
              + NUMBER
              + "(?:(?: to | and |–)"
              + NUMBER
              + ")?\\s?(?:ns|µs|ms|s|min|minutes?|seconds?|hours?|h|%|×|bytes|B|KB|KiB|MB|GB|(?:sections|pairs|commands|scripts|requests|messages|states|tests)(?:/s|"
              + " per second)?|per second|round trips|times|rt)(?!\\w)");

  private static final Pattern CODE = Pattern.compile("`[^`]+`");
  private static final Pattern PROGRAM =
      Pattern.compile("(?:JAVA_OPTS=\\S+ )?(\\./[a-z]+|bin/[a-z]+)\\b.*");
  private static final Pattern TEST = Pattern.compile("[A-Z]\\w*(?:IT|Test)\\b.*");
  private static final Pattern HEADING = Pattern.compile("(#+) (.*)");

  /** A part of a page, from one heading to the next. */
  private record Section(String heading, int level, StringBuilder text) {}

  @Test
  void figures_ofAllPages_areDefinedOrHaveTheirCommandInTheSection() throws IOException {
    Map<String, Set<String>> defined = defined();
    Set<String> tests = tests();
    List<String> without = new ArrayList<>();
    int figures = 0;
    for (Path file : Repository.pages()) {
      String page = name(file);
      if (page.equals("CHANGELOG.md")) {
        continue; // The changelog has figures of earlier versions.
      }
      String text = Files.readString(file);
      figures += (int) FIGURE.matcher(text).results().count();
      without.addAll(without(page, text, defined.getOrDefault(page, Set.of()), tests));
    }

    assertThat(figures).isGreaterThan(250);
    assertThat(without).isEmpty();
  }

  @Test
  void figure_withoutACommand_isFoundWithItsSection() {
    String page = "# Page\n\n## Speed\n\nA pair takes 12 µs, and 7 % more under load.\n";

    assertThat(without("page.md", page, Set.of("7 %"), Set.of()))
        .containsExactly("page.md, Speed: 12 µs");
  }

  @Test
  void figure_besideACommand_inItsSectionOrTheOneAbove_isFine() {
    String beside = "## Speed\n\nA pair takes 12 µs (`bin/bench quick`).\n";
    String above = "## Speed\n\n`SpeedIT` measures it.\n\n### Pairs\n\nA pair takes 12 µs.\n";
    String elsewhere = "## Test\n\n`bin/bench quick`\n\n## Speed\n\nA pair takes 12 µs.\n";
    String gone = "## Speed\n\nA pair takes 12 µs (`GoneIT`, `bin/gone`).\n";

    assertThat(without("p", beside, Set.of(), Set.of())).isEmpty();
    assertThat(without("p", above, Set.of(), Set.of("SpeedIT"))).isEmpty();
    assertThat(without("p", elsewhere, Set.of(), Set.of())).hasSize(1);
    assertThat(without("p", gone, Set.of(), Set.of("SpeedIT"))).hasSize(1);
  }

  /** The list must not contain a definition that no page has any more. */
  @Test
  void definitions_ofTheList_areNeeded() throws IOException {
    Set<String> tests = tests();
    List<String> unused = new ArrayList<>();
    for (Map.Entry<String, Set<String>> entry : defined().entrySet()) {
      Path file = Repository.ROOT.resolve("docs").resolve(entry.getKey());
      Path page = Files.exists(file) ? file : Repository.ROOT.resolve(entry.getKey());
      List<String> needed = without(entry.getKey(), Files.readString(page), Set.of(), tests);
      entry.getValue().stream()
          .filter(figure -> needed.stream().noneMatch(line -> line.endsWith(": " + figure)))
          .forEach(figure -> unused.add(entry.getKey() + ": " + figure));
    }

    assertThat(unused).isEmpty();
  }

  /** The name of a page of the root folder, or the path in docs of another page. */
  private static String name(Path file) {
    Path docs = Repository.ROOT.resolve("docs");
    return (file.startsWith(docs) ? docs.relativize(file) : file.getFileName())
        .toString()
        .replace('\\', '/');
  }

  private static List<String> without(
      String page, String markdown, Set<String> defined, Set<String> tests) {
    List<String> without = new ArrayList<>();
    List<Section> above = new ArrayList<>();
    for (Section section : sections(markdown)) {
      above.removeIf(other -> other.level() >= section.level());
      above.add(section);
      if (above.stream().anyMatch(part -> namesACommand(part.text(), tests))) {
        continue;
      }
      FIGURE
          .matcher(CODE.matcher(section.text()).replaceAll("`"))
          .results()
          .map(figure -> figure.group().replaceAll("\\s+", " "))
          .filter(figure -> !defined.contains(figure))
          .distinct()
          .forEach(figure -> without.add(page + ", " + section.heading() + ": " + figure));
    }
    return without;
  }

  private static List<Section> sections(String markdown) {
    List<Section> sections = new ArrayList<>();
    Section section = new Section("(top)", 0, new StringBuilder());
    boolean code = false;
    for (String line : markdown.split("\n", -1)) {
      if (line.strip().startsWith("```")) {
        code = !code;
        continue;
      }
      Matcher heading = HEADING.matcher(line);
      if (!code && heading.matches()) {
        sections.add(section);
        section = new Section(heading.group(2), heading.group(1).length(), new StringBuilder());
      } else if (code && !line.isBlank()) {
        section.text().append('`').append(line.replace("`", "")).append("`\n");
      } else {
        section.text().append(line).append('\n');
      }
    }
    sections.add(section);
    return sections;
  }

  private static boolean namesACommand(CharSequence text, Set<String> tests) {
    return CODE.matcher(text)
        .results()
        .map(code -> code.group().replace("`", "").replaceAll("\\s+", " ").strip())
        .anyMatch(
            code -> {
              Matcher program = PROGRAM.matcher(code);
              return code.startsWith("mvn ")
                  || (program.matches()
                      && Files.isExecutable(Repository.ROOT.resolve(program.group(1))))
                  || (TEST.matcher(code).matches() && tests.contains(code.split("\\.", 2)[0]));
            });
  }

  private static Set<String> tests() throws IOException {
    Set<String> tests = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Repository.ROOT)) {
      files
          .map(file -> Repository.ROOT.relativize(file).toString())
          .filter(file -> file.matches(".*/src/test/.*\\.(java|kt)"))
          .forEach(file -> tests.add(file.replaceFirst(".*/", "").replaceFirst("\\..*", "")));
    }
    return tests;
  }

  /** Lines {@code page.md: figure; figure}, and comments behind {@code #}. */
  private static Map<String, Set<String>> defined() throws IOException {
    Map<String, Set<String>> defined = new HashMap<>();
    try (InputStream in = FiguresTest.class.getResourceAsStream("/figures-by-definition.txt")) {
      assertThat(in).isNotNull();
      new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(line -> line.replaceFirst("#.*", "").strip())
          .filter(line -> !line.isEmpty())
          .forEach(
              line -> {
                String[] parts = line.split(": ", 2);
                defined
                    .computeIfAbsent(parts[0], page -> new HashSet<>())
                    .addAll(Arrays.asList(parts[1].split("; ")));
              });
    }
    return defined;
  }
}
