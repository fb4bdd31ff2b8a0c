package dev.redlock.cli.look;

import static java.util.Objects.requireNonNull;

import dev.redlock.Redlock;
import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.PresentSet;
import dev.redlock.internal.text.Printable;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code redlock nodes forget}. */
@Command(
    name = "forget",
    mixinStandardHelpOptions = true,
    description = {
      "Delete what a master says of the set of nodes.",
      "For a master with the record of a deployment that is given up. It then stays out for one"
          + " guard time, 32 s with the defaults, as after a restart without keys.",
      "Exit code 0 if the record is deleted, 1 if it is not."
    },
    footer = {"", "Example: redlock nodes forget redis-3:6379"})
final class ForgetNode implements Callable<Integer> {
  @Parameters(
      paramLabel = "NODE",
      description = "The address of the master, as redlock nodes shows it.")
  private String node = "";

  @ParentCommand private @Nullable NodesCommand nodes;

  @Override
  public Integer call() throws InterruptedException {
    return requireNonNull(nodes, "not made by picocli").connected(this::forget);
  }

  private int forget(Redlock client, PrintWriter out) {
    String name = NodeChange.named(node, PresentSet.of(client.operations().nodes()));
    try {
      Look.answer(client.operations().forgetRecord(name));
    } catch (CompletionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new Failure(ExitCode.NO, name + " keeps its record: " + cause.getMessage());
    }
    out.println(Printable.of(name + " has forgotten its record"));
    return ExitCode.OK;
  }
}
