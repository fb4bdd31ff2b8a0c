package dev.redlock.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Prints a rejected property instead of a stack trace. */
final class InvalidRedlockPropertyFailureAnalyzer
    extends AbstractFailureAnalyzer<InvalidRedlockPropertyException> {

  @Override
  protected FailureAnalysis analyze(Throwable root, InvalidRedlockPropertyException cause) {
    return new FailureAnalysis(
        String.valueOf(cause.getMessage()), "Change the property '" + cause.key() + "'.", cause);
  }
}
