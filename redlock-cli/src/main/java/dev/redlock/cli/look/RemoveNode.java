package dev.redlock.cli.look;

import dev.redlock.cli.PresentSet;
import dev.redlock.operations.Operations;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code redlock nodes remove}. */
@Command(
    name = "remove",
    mixinStandardHelpOptions = true,
    description = {
      "Remove a master from the set while all clients run. It may be dead.",
      "Takes one guard time, 32 s with the defaults. Interrupted, run it again to continue.",
      "Exit code 0 if the master is removed, 1 if the change was refused, 69 if too few nodes"
          + " vote, 75 if another operator changes the set, or the change was interrupted."
    },
    footer = {"", "Example: redlock nodes remove redis-3:6379"})
final class RemoveNode extends NodeChange {
  @Parameters(
      paramLabel = "NAME",
      description = "The name of the master, as redlock nodes shows it.")
  private String name = "";

  @Mixin private GoneNodes gone = new GoneNodes();

  @Override
  CompletionStage<List<String>> begin(Operations operations, PresentSet set) {
    String member = named(name, set);
    if (!isOrWas(member, set)) {
      say("'" + member + "' is no member of the set: there is nothing to remove");
      return CompletableFuture.completedFuture(List.of());
    }
    return operations.removeNode(member, gone.of(set), this::show);
  }
}
