package dev.redlock.internal.text;

import com.google.common.base.CharMatcher;
import com.google.common.escape.CharEscaper;
import java.math.BigDecimal;
import java.math.MathContext;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How messages and logs show times and foreign text: names from users, and texts from servers.
 * Control characters could forge a line of the log, or control the terminal that shows it, so this
 * class escapes them.
 */
public final class Printable {
  private static final CharMatcher ESCAPED =
      CharMatcher.javaIsoControl()
          .or(CharMatcher.anyOf("\u061c\u200e\u200f\u2066\u2067\u2068\u2069"))
          .or(CharMatcher.inRange('\u2028', '\u202e'))
          .precomputed();

  private static final CharEscaper ESCAPER =
      new CharEscaper() {
        @Override
        protected char @Nullable [] escape(char c) {
          return ESCAPED.matches(c) ? String.format("\\u%04x", (int) c).toCharArray() : null;
        }
      };

  private static final Duration SECOND = Duration.ofSeconds(1);

  private Printable() {}

  /**
   * The text with control characters, line separators and marks of writing direction replaced by
   * {@code \}{@code u} and four digits; the same object if it contains none.
   */
  public static String of(String text) {
    return ESCAPER.escape(text);
  }

  /**
   * The time, exactly, as all messages write it: {@code 500 ms}, {@code 5 s}, {@code 1 min 39.5 s}.
   * A day has {@code 24 h}.
   */
  public static String of(Duration time) {
    if (!time.isZero() && time.compareTo(SECOND) < 0 && time.compareTo(SECOND.negated()) > 0) {
      return BigDecimal.valueOf(time.toNanos(), 6).stripTrailingZeros().toPlainString() + " ms";
    }
    String iso = time.toString().substring(2); // Also if the nanoseconds overflow a long.
    return iso.replace("H", " h ").replace("M", " min ").replace("S", " s").strip();
  }

  /** The time to three digits, for what was measured: {@code 137 ms}, {@code 1.25 s}. */
  public static String about(Duration time) {
    BigDecimal nanos = BigDecimal.valueOf(time.toNanos()).round(new MathContext(3));
    return of(Duration.ofNanos(nanos.longValue()));
  }
}
