package dev.redlock.spring.boot;

import dev.redlock.InvalidOptionException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Prints a rejected property instead of a stack trace. */
final class InvalidRedlockPropertyFailureAnalyzer
    extends AbstractFailureAnalyzer<InvalidOptionException> {

  /** Returns null for an option that the application has set in its code. */
  @Override
  protected @Nullable FailureAnalysis analyze(Throwable root, InvalidOptionException cause) {
    String action = "Change the property '" + cause.option() + "'.";
    return cause.option().startsWith("redlock.")
        ? new FailureAnalysis(String.valueOf(cause.getMessage()), action, cause)
        : null;
  }
}
