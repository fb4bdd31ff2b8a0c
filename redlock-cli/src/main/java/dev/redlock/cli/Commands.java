package dev.redlock.cli;

import dev.redlock.cli.look.BreakCommand;
import dev.redlock.cli.look.DoctorCommand;
import dev.redlock.cli.look.InspectCommand;
import dev.redlock.cli.look.ListCommand;
import dev.redlock.cli.look.NodesCommand;
import dev.redlock.cli.look.WatchCommand;
import dev.redlock.cli.page.ServeCommand;
import dev.redlock.cli.run.RunCommand;
import dev.redlock.internal.text.Printable;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/** The subcommands, as picocli sees them: usage, help, completion. */
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
final class Commands {
  /** All subcommands, in the order of the help text. */
  private static final Map<String, Supplier<Object>> COMMANDS = new LinkedHashMap<>();

  static {
    COMMANDS.put("run", RunCommand::new);
    COMMANDS.put("list", ListCommand::new);
    COMMANDS.put("inspect", InspectCommand::new);
    COMMANDS.put("watch", WatchCommand::new);
    COMMANDS.put("break", BreakCommand::new);
    COMMANDS.put("doctor", DoctorCommand::new);
    COMMANDS.put("nodes", NodesCommand::new);
    COMMANDS.put("serve", ServeCommand::new);
    COMMANDS.put("completion", AutoComplete.GenerateCompletion::new);
  }

  private Commands() {}

  /** Parses the arguments and runs the command; returns its exit code. */
  static int execute(List<String> args) {
    boolean help = !args.isEmpty() && args.get(0).equals("help");
    List<String> all = new ArrayList<>(help ? args.subList(1, args.size()) : args);
    if (help) {
      all.add("--help");
    }
    String[] words = all.toArray(String[]::new);
    return commandLine(words).execute(words);
  }

  /**
   * If the first argument names a subcommand, only this one is built: reading the annotations of
   * the others takes longer than a round trip.
   */
  private static CommandLine commandLine(String... args) {
    CommandLine main = new CommandLine(new Commands());
    String first = args.length > 0 ? args[0] : "";
    COMMANDS.forEach(
        (name, command) -> {
          if (first.equals(name) || first.equals("completion") || !COMMANDS.containsKey(first)) {
            main.addSubcommand(name, new CommandLine(command.get()).setCommandName(name));
          }
        });
    return main.registerConverter(Duration.class, TimeSpan::parse)
        .setExpandAtFiles(false)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(Commands::wrongUsage)
        .setExecutionExceptionHandler(Commands::failed);
  }

  private static int wrongUsage(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    PrintWriter err = command.getErr();
    if (args.length > 0 && !args[0].startsWith("-") && !COMMANDS.containsKey(args[0])) {
      err.println(
          "redlock: there is no command '" + Printable.of(args[0]) + "': see redlock --help");
      return ExitCode.USAGE;
    }
    String message = String.valueOf(e.getMessage()).replaceAll("://\\S*@", "://***@");
    err.println("redlock: " + Printable.of(message));
    err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
    return ExitCode.USAGE;
  }

  private static int failed(Exception e, CommandLine command, CommandLine.ParseResult result) {
    return Main.failed(e);
  }
}
