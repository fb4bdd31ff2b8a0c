package dev.redlock.cli.look;

import dev.redlock.cli.PresentSet;
import dev.redlock.operations.Operations;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code redlock nodes max-lease-time}. */
@Command(
    name = "max-lease-time",
    mixinStandardHelpOptions = true,
    description = {
      "Change the longest lease time that the masters allow, while all clients run.",
      "Raise it here first, and then in the clients; lower it in the clients first. Takes one guard"
          + " time of the longer value. Interrupted, run it again to continue.",
      "Exit code 0 if it is changed, 1 if the change was refused, 69 if too few nodes vote, 75 if"
          + " another operator changes the set, or the change was interrupted."
    },
    footer = {"", "Example: redlock nodes max-lease-time 60s"})
final class MaxLeaseTime extends NodeChange {
  @Parameters(
      paramLabel = "TIME",
      description = "At most 1h, and not shorter than --max-lease-time of this command.")
  private Duration time = Duration.ZERO;

  @Override
  CompletionStage<List<String>> begin(Operations operations, PresentSet set) {
    return operations.changeMaxLeaseTime(time, this::show).thenApply(done -> List.of());
  }
}
