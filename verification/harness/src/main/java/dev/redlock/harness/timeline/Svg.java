package dev.redlock.harness.timeline;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Writes SVG elements. Supports only what the picture needs. */
final class Svg {
  private final StringBuilder out = new StringBuilder(1 << 16);

  /** A rectangle; an empty title means no tooltip. */
  Svg rect(String style, double x, double y, double width, double height, String title) {
    out.append("<rect class=\"").append(style).append('"');
    attribute("x", x);
    attribute("y", y);
    attribute("width", Math.max(0, width));
    attribute("height", Math.max(0, height));
    return close("rect", title);
  }

  Svg line(String style, double x1, double y1, double x2, double y2) {
    out.append("<line class=\"").append(style).append('"');
    attribute("x1", x1);
    attribute("y1", y1);
    attribute("x2", x2);
    attribute("y2", y2);
    return close("line", "");
  }

  Svg circle(String style, double x, double y, double radius, String title) {
    out.append("<circle class=\"").append(style).append('"');
    attribute("cx", x);
    attribute("cy", y);
    attribute("r", radius);
    return close("circle", title);
  }

  Svg path(String style, String d) {
    out.append("<path class=\"").append(style).append("\" d=\"").append(d).append('"');
    return close("path", "");
  }

  Svg text(String style, double x, double y, String content) {
    out.append("<text class=\"").append(style).append('"');
    attribute("x", x);
    attribute("y", y);
    out.append('>').append(escape(content)).append("</text>\n");
    return this;
  }

  private Svg close(String element, String title) {
    if (title.isEmpty()) {
      out.append("/>\n");
    } else {
      out.append("><title>").append(escape(title)).append("</title></");
      out.append(element).append(">\n");
    }
    return this;
  }

  private void attribute(String name, double value) {
    out.append(' ').append(name).append("=\"").append(number(value)).append('"');
  }

  /** At most two decimals, no trailing zeros, never an exponent. */
  static String number(double value) {
    BigDecimal rounded =
        BigDecimal.valueOf(value).setScale(2, RoundingMode.HALF_UP).stripTrailingZeros();
    return rounded.signum() == 0 ? "0" : rounded.toPlainString();
  }

  /**
   * Escapes a text for content and attributes. Control characters, which XML forbids, become
   * spaces.
   */
  static String escape(String text) {
    StringBuilder safe = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> safe.append("&amp;");
        case '<' -> safe.append("&lt;");
        case '>' -> safe.append("&gt;");
        case '"' -> safe.append("&quot;");
        case '\'' -> safe.append("&#39;");
        default -> safe.append(c < ' ' ? ' ' : c);
      }
    }
    return safe.toString();
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
