package dev.redlock.internal.text;

/** The encoding {@code %XX} of bytes, in lock keys and in the marks of holders. */
public final class PercentEncoding {
  private PercentEncoding() {}

  /** Replaces each encoded byte by the char with its value. */
  public static String decode(String text) {
    StringBuilder out = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean pair = c == '%' && i + 2 < text.length();
      int high = pair ? Character.digit(text.charAt(i + 1), 16) : -1;
      int low = pair ? Character.digit(text.charAt(i + 2), 16) : -1;
      if (high >= 0 && low >= 0) {
        out.append((char) (high << 4 | low));
        i += 2;
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }
}
