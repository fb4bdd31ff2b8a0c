package dev.redlock.cli.look;

import dev.redlock.cli.ExitCode;
import dev.redlock.operations.LockListing;
import dev.redlock.operations.Operations;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code redlock list}. */
@Command(
    name = "list",
    mixinStandardHelpOptions = true,
    description = {
      "List the locks that are held.",
      "Scans all keys of a majority of the nodes, in small steps.",
      "Exit code 0, also if none is held; 69 if too few nodes can be read."
    },
    footer = {"", "Example: redlock list 'order-*'"})
public final class ListCommand extends Look {
  @Parameters(
      paramLabel = "PATTERN",
      arity = "0..1",
      description =
          "Only names that match: * is any text, ? one character, \\ quotes. Default: all names.")
  private String pattern = "*";

  @Override
  protected int look(Operations operations, PrintWriter out) {
    if (json()) {
      Locks.each(operations, pattern, lock -> out.println(Locks.json(lock)));
      return ExitCode.OK;
    }
    List<LockListing.Entry> locks = Locks.all(operations, pattern);
    if (locks.isEmpty()) {
      err().println("redlock: no lock is held");
    } else {
      Locks.table(locks).print(out);
    }
    return ExitCode.OK;
  }
}
