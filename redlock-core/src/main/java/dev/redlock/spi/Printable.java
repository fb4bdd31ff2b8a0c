package dev.redlock.spi;

/**
 * Foreign text for messages and logs: names from users and texts from servers. Control characters
 * could forge a line of the log or command the terminal that shows it, so they are escaped.
 */
public final class Printable {
  private Printable() {}

  /**
   * The text with control characters, line separators and marks of writing direction replaced by
   * {@code \}{@code u} and four digits; the same object if it contains none.
   */
  public static String of(String text) {
    int i = 0;
    while (i < text.length() && !escaped(text.charAt(i))) {
      i++;
    }
    if (i == text.length()) {
      return text;
    }
    StringBuilder out = new StringBuilder(text.length() + 16).append(text, 0, i);
    for (; i < text.length(); i++) {
      char c = text.charAt(i);
      if (escaped(c)) {
        out.append("\\u").append(String.format("%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }

  private static boolean escaped(char c) {
    return Character.isISOControl(c)
        || c == '\u061c'
        || c == '\u200e'
        || c == '\u200f'
        || c == '\u2028'
        || c == '\u2029'
        || (c >= '\u202a' && c <= '\u202e')
        || (c >= '\u2066' && c <= '\u2069');
  }
}
