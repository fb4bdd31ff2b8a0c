package dev.redlock.cli.look;

import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.Terminal;
import dev.redlock.operations.LockInspection;
import dev.redlock.operations.Operations;
import java.io.Console;
import java.io.PrintWriter;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code redlock break}. */
@Command(
    name = "break",
    mixinStandardHelpOptions = true,
    description = {
      "Take a lock from its holder.",
      "redlock run ends its command with KILL as soon as it learns it, without a grace.",
      "The holder learns it within a third of its lease time, and may go on with its work until"
          + " then: only a resource that checks the fencing token is safe from it.",
      "Exit code 0 if the lock was broken, 1 if it is free or you said no, 69 if too few nodes"
          + " confirmed."
    },
    footer = {"", "Example: redlock break backup"})
public final class BreakCommand extends Look {
  @Parameters(paramLabel = "NAME", description = "The name of the lock.")
  private String name = "";

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask.")
  private boolean yes;

  @Override
  protected int look(Operations operations, PrintWriter out) {
    LockInspection before = answer(operations.inspect(name));
    Holding holding = Holding.of(before);
    if (holding.state() == Holding.State.FREE) {
      err().println("redlock: " + holding.sentence(before));
      return ExitCode.NO;
    }
    if (!yes && !confirmed(holding.sentence(before))) {
      return ExitCode.NO;
    }
    LockInspection broken = answer(operations.breakLock(name));
    Holding was = Holding.of(broken);
    if (json()) {
      out.println(InspectCommand.json(broken, was, Map.of()).put("broken", true));
    } else {
      out.println("broken; before: " + was.sentence(broken));
    }
    return ExitCode.OK;
  }

  private static boolean confirmed(String sentence) {
    Console console = Terminal.console();
    if (console == null) {
      throw Failure.usage(
          sentence + ". There is no terminal to ask whether to break it: give --yes");
    }
    String answer = console.readLine("%s.%nBreak it? [y/N] ", sentence);
    return answer != null && (answer.equalsIgnoreCase("y") || answer.equalsIgnoreCase("yes"));
  }
}
