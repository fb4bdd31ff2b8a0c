package dev.redlock.cli;

import dev.redlock.QuorumUnavailableException;
import dev.redlock.cli.look.BreakCommand;
import dev.redlock.cli.look.DoctorCommand;
import dev.redlock.cli.look.InspectCommand;
import dev.redlock.cli.look.ListCommand;
import dev.redlock.cli.look.NodesCommand;
import dev.redlock.cli.look.TopCommand;
import dev.redlock.cli.look.WatchCommand;
import dev.redlock.cli.page.ServeCommand;
import dev.redlock.cli.run.RunCommand;
import dev.redlock.spi.Printable;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code redlock}. */
@Command(
    name = "redlock",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    versionProvider = Version.class,
    description = "Locks over independent Redis masters.",
    footer = {
      "",
      "Example: redlock run -n backup -- pg_dump shop",
      "'redlock COMMAND --help' explains a command."
    })
public final class Main implements Runnable {
  /** All subcommands, in the order of the help text. */
  private static final Map<String, Function<List<String>, Object>> COMMANDS = new LinkedHashMap<>();

  static {
    COMMANDS.put("run", RunCommand::new);
    COMMANDS.put("list", rest -> new ListCommand());
    COMMANDS.put("inspect", rest -> new InspectCommand());
    COMMANDS.put("watch", rest -> new WatchCommand());
    COMMANDS.put("break", rest -> new BreakCommand());
    COMMANDS.put("doctor", rest -> new DoctorCommand());
    COMMANDS.put("nodes", rest -> new NodesCommand());
    COMMANDS.put("top", rest -> new TopCommand());
    COMMANDS.put("serve", rest -> new ServeCommand());
    COMMANDS.put("completion", rest -> new CompletionCommand());
  }

  @Spec private @Nullable CommandSpec spec;

  private Main() {}

  public static void main(String[] args) {
    System.exit(run(args));
  }

  /** Runs the command, and returns its exit code. */
  public static int run(String... args) {
    // picocli would mix what follows the two dashes with the names before them.
    int dashes = args.length > 0 && args[0].equals("run") ? List.of(args).indexOf("--") : -1;
    if (dashes < 0) {
      return commandLine(List.of(), args).execute(args);
    }
    List<String> rest = List.of(args).subList(dashes + 1, args.length);
    return commandLine(rest, args).execute(Arrays.copyOf(args, dashes));
  }

  /**
   * If the first argument names a subcommand, only this one is built: reading the annotations of
   * the others takes longer than a round trip.
   */
  private static CommandLine commandLine(List<String> rest, String... args) {
    CommandLine main = new CommandLine(new Main());
    String first = args.length > 0 ? args[0] : "";
    COMMANDS.forEach(
        (name, command) -> {
          if (first.equals(name) || first.equals("completion") || !COMMANDS.containsKey(first)) {
            main.addSubcommand(name, command.apply(rest));
          }
        });
    return main.setExpandAtFiles(false)
        .setParameterExceptionHandler(Main::wrongUsage)
        .setExecutionExceptionHandler(Main::failed);
  }

  @Override
  public void run() {
    if (spec != null) {
      throw new ParameterException(spec.commandLine(), "no command is given: see redlock --help");
    }
  }

  private static int wrongUsage(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    PrintWriter err = command.getErr();
    err.println("redlock: " + Printable.of(String.valueOf(e.getMessage())));
    if (!CommandLine.UnmatchedArgumentException.printSuggestions(e, err)) {
      err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
    }
    return ExitCode.USAGE;
  }

  private static int failed(Exception e, CommandLine command, CommandLine.ParseResult result) {
    PrintWriter err = command.getErr();
    if (e instanceof Failure failure) {
      err.println("redlock: " + Printable.of(String.valueOf(failure.getMessage())));
      return failure.exitCode();
    }
    if (e instanceof QuorumUnavailableException) {
      err.println("redlock: " + Printable.of(String.valueOf(e.getMessage())));
      return ExitCode.TOO_FEW_NODES;
    }
    err.println("redlock: unexpected failure");
    e.printStackTrace(err);
    return ExitCode.DEFECT;
  }
}
