package dev.redlock.spi;

import com.google.common.escape.CharEscaper;
import org.jspecify.annotations.Nullable;

/**
 * Makes foreign text safe for messages and logs: names from users and texts from servers. Control
 * characters could forge a line of the log, or control the terminal that shows it, so this class
 * escapes them.
 */
public final class Printable {
  private static final CharEscaper ESCAPER =
      new CharEscaper() {
        @Override
        protected char @Nullable [] escape(char c) {
          return escaped(c) ? String.format("\\u%04x", (int) c).toCharArray() : null;
        }
      };

  private Printable() {}

  /**
   * The text with control characters, line separators and marks of writing direction replaced by
   * {@code \}{@code u} and four digits; the same object if it contains none.
   */
  public static String of(String text) {
    return ESCAPER.escape(text);
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
