package dev.redlock.cli.look;

import dev.redlock.cli.PresentSet;
import dev.redlock.operations.Operations;
import java.util.List;
import java.util.concurrent.CompletionStage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code redlock nodes add}. */
@Command(
    name = "add",
    mixinStandardHelpOptions = true,
    description = {
      "Add a master to the set while all clients run.",
      "Takes one guard time, 32 s with the defaults. Interrupted, run it again to continue.",
      "Exit code 0 if the master is a member, 1 if the change was refused, 69 if too few nodes"
          + " vote, 75 if another operator changes the set, or the change was interrupted."
    },
    footer = {"", "Example: redlock nodes add redis-4:6379"})
final class AddNode extends NodeChange {
  @Parameters(paramLabel = "HOST:PORT", description = "The address of the new master.")
  private String node = "";

  @Override
  CompletionStage<List<String>> begin(Operations operations, PresentSet set) {
    return operations.addNode(address(node), this::show);
  }
}
