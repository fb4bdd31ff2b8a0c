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

  /** A command line, an environment or a file that is wrong. */
  public static Failure usage(String message) {
    return new Failure(ExitCode.USAGE, message);
  }

  /**
   * A message of the library, which names settings and methods of Java, in words of the command.
   */
  public static String inOptions(String message) {
    return message
        .replaceAll("\\bmaxLeaseTime (?=\\d)", "--max-lease-time ")
        .replaceAll("\\bleaseTime (?=\\d)", "--lease ")
        .replaceAll("; awaitReady waits for it| \\(a node that is known[^)]*\\)", "");
  }

  /** The exit code of the command. */
  public int exitCode() {
    return exitCode;
  }
}
