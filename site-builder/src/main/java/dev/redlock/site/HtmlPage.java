package dev.redlock.site;

import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.renderer.html.HtmlRenderer;

/** Renders a page as HTML. */
final class HtmlPage {
  private HtmlPage() {}

  /**
   * The body of the page.
   *
   * @param target maps the target of a link or a picture to that on the site
   */
  static String body(Page page, UnaryOperator<String> target) {
    Map<Node, String> anchors = new HashMap<>();
    Iterator<String> next = page.anchors().iterator();
    for (Node node = page.root().getFirstChild(); node != null; node = node.getNext()) {
      if (node instanceof Heading && next.hasNext()) {
        anchors.put(node, next.next());
      }
    }
    return HtmlRenderer.builder()
        .extensions(List.of(TablesExtension.create()))
        .escapeHtml(false)
        .attributeProviderFactory(
            context ->
                (node, tag, attributes) -> {
                  if (node instanceof Heading) {
                    attributes.put("id", anchors.getOrDefault(node, ""));
                  } else if (node instanceof Link link) {
                    attributes.put("href", target.apply(link.getDestination()));
                  } else if (node instanceof Image image && tag.equals("img")) {
                    attributes.put("src", target.apply(image.getDestination()));
                  }
                })
        .build()
        .render(page.root())
        .replace("<table>", "<div class=\"table\"><table>")
        .replace("</table>", "</table></div>");
  }

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
