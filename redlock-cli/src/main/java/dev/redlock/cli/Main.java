package dev.redlock.cli;

import dev.redlock.QuorumUnavailableException;
import dev.redlock.cli.run.StartScript;
import dev.redlock.internal.text.Printable;
import java.util.List;

/** The command {@code redlock}. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    int code = run(args);
    if (StartScript.isThere()) {
      System.err.close(); // The JVM may write its archive of classes now, and say so.
      StartScript.end(code);
    }
    System.exit(code);
  }

  /** Runs the command, and returns its exit code. */
  public static int run(String... args) {
    try {
      requireReadable(args);
      return Commands.execute(List.of(args));
    } catch (Exception e) {
      return failed(e);
    }
  }

  /**
   * The JVM puts this character in place of what it cannot read. Names that differ would be the
   * same lock then, and a child would get other arguments than were given.
   */
  private static void requireReadable(String... args) {
    for (String arg : args) {
      if (arg.indexOf('\uFFFD') >= 0) {
        throw Failure.usage("the argument '" + arg + "' is not written in UTF-8");
      }
    }
  }

  /** Says why a command failed, and returns its exit code. */
  static int failed(Exception e) {
    if (e instanceof Failure || e instanceof QuorumUnavailableException) {
      System.err.println("redlock: " + Printable.of(Failure.withoutJava("" + e.getMessage())));
      return e instanceof Failure failure ? failure.exitCode() : ExitCode.TOO_FEW_NODES;
    }
    System.err.println("redlock: unexpected failure");
    e.printStackTrace();
    return ExitCode.DEFECT;
  }
}
