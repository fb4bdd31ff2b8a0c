package dev.redlock.cli;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads a time of the command line: {@code 500ms}, {@code 30s}, {@code 2m}, {@code 1h}, or {@code
 * 30} for seconds.
 */
final class TimeSpan {
  private static final Pattern FORM =
      Pattern.compile("(\\d{1,9}(?:\\.\\d{1,9})?) ?(ms|s|m|min|h|)");

  private TimeSpan() {}

  /**
   * The time that the text says.
   *
   * @throws TypeConversionException if it says none
   */
  static Duration parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new TypeConversionException("'" + text + "' is no time such as 500ms, 30s, 2m or 1h");
    }
    long unit =
        switch (matcher.group(2)) {
          case "ms" -> 1_000_000L;
          case "m", "min" -> 60_000_000_000L;
          case "h" -> 3_600_000_000_000L;
          default -> 1_000_000_000L;
        };
    BigDecimal nanos = new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(unit));
    try {
      return Duration.ofNanos(nanos.toBigInteger().longValueExact());
    } catch (ArithmeticException e) {
      throw new TypeConversionException("'" + text + "' is too long");
    }
  }
}
