package dev.redlock.site;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.commonmark.node.Heading;
import org.commonmark.node.Node;

/** The text of all sections, as a script that the pages of the site include. */
final class SearchIndex {
  /** One section: where it is, what it is called, and its text. */
  private record Entry(String url, String page, String section, String text) {}

  private final List<Entry> entries = new ArrayList<>();

  void add(Page page, String url) {
    Iterator<Map.Entry<String, String>> headings = page.headings().entrySet().iterator();
    Map.Entry<String, String> current = Map.entry("", page.title());
    StringBuilder text = new StringBuilder();
    for (Node node = page.root().getFirstChild(); node != null; node = node.getNext()) {
      if (node instanceof Heading && headings.hasNext()) {
        flush(page, url, current, text);
        current = headings.next();
        text.setLength(0);
      } else {
        text.append(allText(node)).append(' ');
      }
    }
    flush(page, url, current, text);
  }

  private void flush(Page page, String url, Map.Entry<String, String> heading, StringBuilder text) {
    if (text.toString().isBlank() && heading.getKey().isEmpty()) {
      return;
    }
    entries.add(
        new Entry(
            heading.getKey().isEmpty() ? url : url + "#" + heading.getKey(),
            page.title(),
            heading.getValue(),
            text.toString().replaceAll("\\s+", " ").strip()));
  }

  /** Like {@link Page#text}, with spaces between blocks and with blocks of code. */
  private static String allText(Node node) {
    StringBuilder text = new StringBuilder();
    if (node instanceof org.commonmark.node.FencedCodeBlock code) {
      return code.getLiteral();
    }
    if (node.getFirstChild() == null) {
      return Page.text(node);
    }
    for (Node child = node.getFirstChild(); child != null; child = child.getNext()) {
      text.append(allText(child));
      if (child instanceof org.commonmark.node.Block
          || child instanceof org.commonmark.ext.gfm.tables.TableCell
          || child instanceof org.commonmark.node.SoftLineBreak) {
        text.append(' ');
      }
    }
    return text.toString();
  }

  int size() {
    return entries.size();
  }

  /** A script that defines {@code searchIndex}. It is a file of the site: pages stay small. */
  String script() {
    StringBuilder script = new StringBuilder("window.searchIndex = [\n");
    for (Entry entry : entries) {
      script
          .append("[")
          .append(string(entry.url()))
          .append(',')
          .append(string(entry.page()))
          .append(',')
          .append(string(entry.section()))
          .append(',')
          .append(string(entry.text()))
          .append("],\n");
    }
    return script.append("];\n").toString();
  }

  private static String string(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ' || c == '<' || c == '\u2028' || c == '\u2029') {
        quoted.append(String.format(java.util.Locale.ROOT, "\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
