package dev.redlock.cli.look;

import dev.redlock.cli.ExitCode;
import dev.redlock.operations.LockInspection;
import dev.redlock.operations.LockInspection.NodeView;
import dev.redlock.operations.LockListing;
import dev.redlock.operations.Operations;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code redlock inspect}. */
@Command(
    name = "inspect",
    mixinStandardHelpOptions = true,
    description = {
      "Show who holds a lock, and what each node stores for it.",
      "Exit code 0 if it is held, 1 if it is free, 69 if too few nodes replied to know."
    },
    footer = {"", "Example: redlock inspect backup"})
public final class InspectCommand extends Look {
  @Parameters(paramLabel = "NAME", description = "The name of the lock.")
  private String name = "";

  @Option(
      names = "--queue",
      description =
          "Also show how many processes wait, by node. Scans all keys of a majority of the nodes.")
  private boolean queue;

  @Override
  protected int look(Operations operations, PrintWriter out) {
    LockInspection inspection = answer(operations.inspect(name));
    Holding holding = Holding.of(inspection);
    Map<String, Integer> waiting = queue ? waiting(operations, inspection) : Map.of();
    if (json()) {
      out.println(json(inspection, holding, waiting));
    } else {
      out.println(holding.sentence(inspection));
      table(inspection, waiting).print(out);
    }
    return switch (holding.state()) {
      case HELD -> ExitCode.OK;
      case FREE -> ExitCode.NO;
      case UNKNOWN -> ExitCode.TOO_FEW_NODES;
    };
  }

  private Map<String, Integer> waiting(Operations operations, LockInspection inspection) {
    Map<String, Integer> waiting = new HashMap<>();
    for (LockListing.Entry listed : Locks.all(operations, Locks.quoted(name))) {
      for (NodeView view : inspection.nodes()) {
        if (view.error() == null) {
          waiting.put(view.node(), 0);
        }
      }
      waiting.putAll(listed.waiting());
    }
    return waiting;
  }

  private Table table(LockInspection inspection, Map<String, Integer> waiting) {
    List<String> heading =
        new ArrayList<>(List.of("NODE", "STATE", "LEASE", "LABEL", "REMAINING", "TOKENS UP TO"));
    if (queue) {
      heading.add("WAITING");
    }
    heading.add("ERROR");
    Table table = new Table(heading.toArray(new String[0]));
    for (NodeView view : inspection.nodes()) {
      List<@Nullable Object> cells = new ArrayList<>();
      cells.add(view.node());
      cells.add(view.state());
      cells.add(view.holder());
      cells.add(view.holderLabel());
      cells.add(view.remaining());
      cells.add(view.highestTokenSeen() == 0 ? null : view.highestTokenSeen());
      if (queue) {
        cells.add(waiting.get(view.node()));
      }
      cells.add(view.error());
      table.row(cells.toArray());
    }
    return table;
  }

  static Json json(LockInspection inspection, Holding holding, Map<String, Integer> waiting) {
    List<String> nodes = new ArrayList<>();
    for (NodeView view : inspection.nodes()) {
      Json node =
          new Json()
              .put("node", view.node())
              .put("state", view.state().split(" ", 2)[0]) // Without the time that is left.
              .put("lease", view.holder())
              .put("label", view.holderLabel())
              .putMillis("remaining", view.remaining())
              .put("highestToken", view.highestTokenSeen())
              .put("error", view.error())
              .put("waiting", waiting.get(view.node()));
      nodes.add(node.toString());
    }
    return new Json()
        .put("name", inspection.name())
        .put("state", holding.state().name())
        .put("lease", holding.holder())
        .put("label", holding.label())
        .putMillis("remaining", holding.remaining())
        .put("storedBy", holding.storedBy())
        .put("quorum", inspection.quorum())
        .putAll("nodes", nodes);
  }
}
