package dev.redlock.site;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A block of Java in a page.
 *
 * @param page the name of the page, without its ending
 * @param line the line of the page on which the code begins
 */
record Snippet(String page, int line, String code) {
  private static final Pattern TYPE =
      Pattern.compile(
          "(?s)\\s*(/\\*\\*.*?\\*/\\s*)?(@\\w+(\\(.*?\\))?\\s+)*"
              + "(public |static |final |abstract |sealed )*(class|record|interface|enum) .*");
  private static final Pattern MEMBER =
      Pattern.compile("(?s)\\s*(@(Bean|Scheduled|SchedulerLock)\\b|public |private |static ).*");

  /** The blocks of a page that begin with {@code ```java}. */
  static List<Snippet> of(String page, String markdown) {
    List<Snippet> snippets = new ArrayList<>();
    StringBuilder code = null;
    int from = 0;
    int number = 0;
    for (String line : markdown.split("\n", -1)) {
      number++;
      if (code == null && line.strip().equals("```java")) {
        code = new StringBuilder();
        from = number + 1;
      } else if (code != null && line.strip().equals("```")) {
        snippets.add(new Snippet(page, from, code.toString()));
        code = null;
      } else if (code != null) {
        code.append(line).append('\n');
      }
    }
    return snippets;
  }

  /**
   * The block as a class. A block is a file with imports, a type, members of a class, or
   * statements. The scope has the imports, and a class {@code Scope} with what the block uses and
   * does not declare.
   */
  String source(String className, String scope) {
    String body = complete(code);
    // A package of its own: scopes declare types of the same name.
    String header = "package " + className.toLowerCase(Locale.ROOT) + "; ";
    if (code.startsWith("import ")) { // A whole file. It keeps the name of its class.
      return header + code.replaceFirst("(?m)^public class ", "class ");
    }
    if (TYPE.matcher(code).matches()) {
      return header + scope.replace("class Scope", "abstract class " + className) + "\n" + body;
    }
    String inner =
        MEMBER.matcher(code).matches()
            ? body
            : "  " + result() + " statements() throws Exception {\n" + body + "\n  }";
    int end = scope.indexOf("\n}\n", scope.indexOf("class Scope"));
    return header
        + scope.substring(0, end).replace("class Scope", "abstract class " + className)
        + "\n"
        + inner
        + scope.substring(end);
  }

  /** Statements that return a value are the body of a method that returns an {@code Optional}. */
  private String result() {
    return code.contains("return lease;") ? "java.util.Optional<?>" : "void";
  }

  /** Bodies that the page leaves out throw. An expression that it breaks off is a statement. */
  private static String complete(String code) {
    return code.replace("{ … }", "{ throw new UnsupportedOperationException(); }")
        .replaceAll("\\)…(\\s*)$", ");$1");
  }

  String at() {
    return page + ".md:" + line;
  }
}
