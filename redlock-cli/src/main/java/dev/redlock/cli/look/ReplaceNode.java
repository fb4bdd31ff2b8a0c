package dev.redlock.cli.look;

import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.PresentSet;
import dev.redlock.operations.Operations;
import java.util.List;
import java.util.concurrent.CompletionStage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code redlock nodes replace}. */
@Command(
    name = "replace",
    mixinStandardHelpOptions = true,
    description = {
      "Replace a master by another while all clients run. The old one may be dead.",
      "Takes two guard times, 64 s with the defaults. Interrupted, run it again to continue.",
      "Exit code 0 if it is replaced, 1 if the change was refused, 69 if too few nodes vote, 75 if"
          + " another operator changes the set, or the change was interrupted."
    },
    footer = {"", "Example: redlock nodes replace redis-3:6379 redis-4:6379"})
final class ReplaceNode extends NodeChange {
  @Parameters(
      index = "0",
      paramLabel = "NAME",
      description = "The name of the old master, as redlock nodes shows it.")
  private String name = "";

  @Parameters(index = "1", paramLabel = "HOST:PORT", description = "The address of the new master.")
  private String node = "";

  @Mixin private GoneNodes gone = new GoneNodes();

  @Override
  CompletionStage<List<String>> begin(Operations operations, PresentSet set) {
    String added = address(node);
    String removed = named(name, set);
    // The second half of a replacement no longer knows the old master.
    if (!isOrWas(added, set) && !isOrWas(removed, set)) {
      throw new Failure(
          ExitCode.NO,
          "'%s' is no member of the set: %s; if it was removed before, run: redlock nodes add %s"
              .formatted(removed, set.record(), added));
    }
    return operations.replaceNode(removed, added, gone.of(set), this::show);
  }
}
