package dev.redlock.cli;

import dev.redlock.QuorumUnavailableException;
import dev.redlock.cli.run.PlainArguments;
import dev.redlock.cli.run.RunCommand;
import dev.redlock.internal.text.Printable;
import java.util.List;

/** The command {@code redlock}. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    System.exit(run(args));
  }

  /** Runs the command, and returns its exit code. */
  public static int run(String... args) {
    try {
      requireReadable(args);
      return runReadable(args);
    } catch (Exception e) {
      return failed(e);
    }
  }

  private static int runReadable(String... args) throws InterruptedException {
    List<String> all = List.of(args);
    int dashes = args.length > 0 && args[0].equals("run") ? all.indexOf("--") : -1;
    if (dashes < 0) {
      return Commands.execute(all, List.of());
    }
    // picocli would mix what follows the two dashes with the names before them.
    List<String> words = all.subList(0, dashes);
    List<String> rest = all.subList(dashes + 1, args.length);
    RunCommand plain = PlainArguments.parse(words.subList(1, dashes), rest);
    return plain == null ? Commands.execute(words, rest) : plain.call();
  }

  /**
   * The JVM puts this character in place of what it cannot read. Names that differ would be the
   * same lock then, and a child would get other arguments than were given.
   */
  private static void requireReadable(String... args) {
    for (String arg : args) {
      if (arg.indexOf('\uFFFD') >= 0) {
        throw Failure.usage(
            "the argument '"
                + arg
                + "' cannot be read in this locale: set LC_ALL=C.UTF-8, or the locale in which it"
                + " was written");
      }
    }
  }

  /** Says why a command failed, and returns its exit code. */
  static int failed(Exception e) {
    if (e instanceof Failure failure) {
      System.err.println("redlock: " + Printable.of(String.valueOf(failure.getMessage())));
      return failure.exitCode();
    }
    if (e instanceof QuorumUnavailableException) {
      System.err.println("redlock: " + Printable.of(String.valueOf(e.getMessage())));
      return ExitCode.TOO_FEW_NODES;
    }
    System.err.println("redlock: unexpected failure");
    e.printStackTrace();
    return ExitCode.DEFECT;
  }
}
