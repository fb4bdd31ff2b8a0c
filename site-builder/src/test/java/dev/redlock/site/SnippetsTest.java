package dev.redlock.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * All Java of the documents compiles, with the libraries that the documents name. {@code
 * ProgramsTest} compiles that of the page on migrating, which names other lock services.
 */
class SnippetsTest {
  @Test
  void javaOfAllPages_withTheScopeOfItsPage_compiles(@TempDir Path classes) throws IOException {
    Map<String, Snippet> snippets = new LinkedHashMap<>();
    List<JavaFileObject> sources = new ArrayList<>();
    for (Path file : Repository.pages()) {
      String page = file.getFileName().toString().replace(".md", "");
      String text = page.equals("migrating") ? "" : Files.readString(file);
      for (Snippet snippet : Snippet.of(page, text)) {
        String name = "Snippet" + (snippets.size() + 1);
        snippets.put(name, snippet);
        sources.add(new Source(name, snippet.source(name, scope(page))));
      }
    }

    assertThat(snippets).hasSizeGreaterThan(30);
    assertThat(errors(sources, snippets, classes)).isEmpty();
  }

  @Test
  void javaWithAMistake_isFoundWithItsPageAndLine(@TempDir Path classes) throws IOException {
    Snippet wrong = Snippet.of("page", "text\n\n```java\nint a = \"text\";\n```\n").get(0);
    List<JavaFileObject> sources =
        List.of(new Source("Wrong", wrong.source("Wrong", scope("page"))));

    assertThat(errors(sources, Map.of("Wrong", wrong), classes))
        .singleElement()
        .asString()
        .startsWith("page.md:4: ")
        .contains("incompatible types");
  }

  private static List<String> errors(
      List<JavaFileObject> sources, Map<String, Snippet> snippets, Path classes)
      throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    StringWriter out = new StringWriter();
    compiler
        .getTask(
            out,
            null,
            found,
            List.of(
                "-proc:none",
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("java.class.path")),
            null,
            sources)
        .call();
    return found.getDiagnostics().stream()
        .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
        .map(diagnostic -> describe(diagnostic, snippets))
        .toList();
  }

  private static String describe(
      Diagnostic<? extends JavaFileObject> diagnostic, Map<String, Snippet> snippets) {
    String name = diagnostic.getSource().getName().replaceAll(".*/|\\.java$", "");
    Snippet snippet = snippets.get(name);
    return (snippet == null ? name : snippet.at())
        + ": "
        + diagnostic.getMessage(Locale.ENGLISH)
        + " in line "
        + diagnostic.getLineNumber()
        + " of its class";
  }

  /** The imports and the {@code Scope} of a page; pages without their own share one. */
  static String scope(String page) throws IOException {
    for (String name : List.of(page, "default")) {
      try (InputStream in = SnippetsTest.class.getResourceAsStream("/scopes/" + name + ".java")) {
        if (in != null) {
          return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
      }
    }
    throw new AssertionError("no default scope");
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String name, String text) {
      super(URI.create("memory:///" + name + ".java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
