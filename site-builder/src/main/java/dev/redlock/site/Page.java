package dev.redlock.site;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;

/**
 * One Markdown page: its headings with their anchors, and its links.
 *
 * @param path the path from the root of the repository, with slashes
 * @param root the parsed page
 * @param headings anchor to text, in the order of the page
 * @param links targets of all links and pictures
 */
record Page(String path, Node root, Map<String, String> headings, List<String> links) {
  private static final Parser PARSER =
      Parser.builder().extensions(List.of(TablesExtension.create())).build();

  static Page parse(String path, String markdown) {
    Node root = PARSER.parse(markdown);
    Map<String, String> headings = new LinkedHashMap<>();
    List<String> links = new ArrayList<>();
    Map<String, Integer> seen = new HashMap<>();
    root.accept(
        new AbstractVisitor() {
          @Override
          public void visit(Heading heading) {
            String text = text(heading);
            headings.put(unique(anchor(text), seen), text);
            visitChildren(heading);
          }

          @Override
          public void visit(Link link) {
            links.add(link.getDestination());
            visitChildren(link);
          }

          @Override
          public void visit(Image image) {
            links.add(image.getDestination());
          }
        });
    return new Page(path, root, headings, links);
  }

  /** The first heading, or the path. */
  String title() {
    return headings.isEmpty() ? path : headings.values().iterator().next();
  }

  Set<String> anchors() {
    return headings.keySet();
  }

  /** The plain text of a node. */
  static String text(Node node) {
    StringBuilder text = new StringBuilder();
    node.accept(
        new AbstractVisitor() {
          @Override
          public void visit(Text part) {
            text.append(part.getLiteral());
          }

          @Override
          public void visit(Code code) {
            text.append(code.getLiteral());
          }
        });
    return text.toString();
  }

  /** As code hosts make it: letters, digits, hyphens and underscores; a space is a hyphen. */
  static String anchor(String heading) {
    StringBuilder anchor = new StringBuilder();
    heading
        .strip()
        .toLowerCase(Locale.ROOT)
        .codePoints()
        .forEach(
            c -> {
              if (Character.isLetterOrDigit(c) || c == '-' || c == '_') {
                anchor.appendCodePoint(c);
              } else if (c == ' ') {
                anchor.append('-');
              }
            });
    return anchor.toString();
  }

  private static String unique(String anchor, Map<String, Integer> seen) {
    int times = seen.merge(anchor, 1, Integer::sum);
    return times == 1 ? anchor : anchor + "-" + (times - 1);
  }
}
