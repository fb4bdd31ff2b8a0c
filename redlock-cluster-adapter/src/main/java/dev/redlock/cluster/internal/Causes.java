package dev.redlock.cluster.internal;

/** What an exception says, for people: the innermost of those that wrap each other. */
final class Causes {
  private static final int DEEPEST = 12;

  private Causes() {}

  static String of(Throwable failure) {
    Throwable at = failure;
    for (int i = 0; i < DEEPEST && at.getCause() != null; i++) {
      at = at.getCause();
    }
    String text = at.getMessage();
    return text == null || text.isBlank()
        ? at.getClass().getSimpleName()
        : text.lines().findFirst().orElseThrow();
  }
}
