package dev.redlock.cli;

/** Ends the command with one line on standard error and an exit code. */
public final class Failure extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private final int exitCode;

  /**
   * A failure.
   *
   * @param exitCode a constant of {@link ExitCode}
   * @param message one line for people: what, the numbers, the remedy
   */
  public Failure(int exitCode, String message) {
    super(message, null, false, false);
    this.exitCode = exitCode;
  }

  /** A command line, an environment or a file that is wrong: names options, not Java's settings. */
  public static Failure usage(String message) {
    String max = message.replaceAll("\\bmaxLeaseTime (?=\\d)", "--max-lease-time ");
    return new Failure(ExitCode.USAGE, max.replaceAll("\\bleaseTime (?=\\d)", "--lease "));
  }

  /** The cause of a node without advice for those who write Java. */
  public static String withoutJava(String cause) {
    return cause.replaceAll("; awaitReady waits for it| \\(a node that is known[^)]*\\)", "");
  }

  /** The exit code of the command. */
  public int exitCode() {
    return exitCode;
  }
}
