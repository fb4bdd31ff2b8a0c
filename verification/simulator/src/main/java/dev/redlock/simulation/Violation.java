package dev.redlock.simulation;

/** A rule of the {@link Checker} is broken. */
final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1;

  final String rule;

  Violation(String rule, String detail) {
    super(rule + ": " + detail, null, false, false);
    this.rule = rule;
  }
}
