package dev.redlock.cli;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** {@link TimeSpan} for picocli, which shows only messages of its own exception. */
public final class TimeConverter implements ITypeConverter<Duration> {
  @Override
  public Duration convert(String text) {
    try {
      return TimeSpan.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(String.valueOf(e.getMessage()));
    }
  }
}
