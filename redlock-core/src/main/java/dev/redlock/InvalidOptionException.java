package dev.redlock;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.text.Printable;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An option has a value that is not allowed; the message says what is. {@link
 * LockOptions.Builder#build}, {@link RedlockBuilder#label}, {@link RedlockBuilder#build} and {@link
 * Redlock#lock(String, LockOptions)} throw it. It names the option, so that a program that reads
 * its options from a file can say which line to change.
 */
public final class InvalidOptionException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;
  private final String option;
  private final @Nullable String value;

  /** The message consists of the option, its value and this rule. */
  public static InvalidOptionException of(String option, Object value, String rule) {
    String shown = value instanceof Duration time ? Printable.of(time) : value.toString();
    return new InvalidOptionException(option, shown, option + " " + shown + " " + rule);
  }

  /** The parameters are what the methods return. */
  public InvalidOptionException(String option, @Nullable String value, String message) {
    super(message);
    this.option = requireNonNull(option);
    this.value = value;
  }

  /**
   * The name of the option, which is that of the method that sets it: {@code leaseTime}, {@code
   * maxLeaseTime}, {@code keyPrefix}, {@code nodes}.
   */
  public String option() {
    return option;
  }

  /**
   * What was given, a time as messages write it: {@code 40 s}. It may be a default. Null if the
   * message alone says it, as that of a URI does, without the password.
   */
  public @Nullable String value() {
    return value;
  }
}
