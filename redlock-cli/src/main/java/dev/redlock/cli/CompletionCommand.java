package dev.redlock.cli;

import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code redlock completion}: a script for bash and zsh. */
@Command(
    name = "completion",
    mixinStandardHelpOptions = true,
    description = "Print the completion script for bash and zsh.",
    footer = {"", "Example: source <(redlock completion)"})
final class CompletionCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    if (spec != null) {
      spec.commandLine().getOut().print(AutoComplete.bash("redlock", spec.root().commandLine()));
      spec.commandLine().getOut().flush();
    }
  }
}
